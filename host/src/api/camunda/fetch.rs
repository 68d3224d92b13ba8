//! `fetchAndLock`: tasks of several topics, each with its own lock, now or as soon as there are some.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};

use super::body::Body;
use super::caller::Worker;
use super::error::CamundaError;
use super::fetch_filtered;
use super::fetch_request::FetchRequest;
use super::{variables, view};
use crate::api::AppState;
use crate::dispatch::desk::PollRequest;
use crate::domain::instance::Instance;
use crate::domain::task::Task;
use crate::domain::{InstanceId, TenantId};
use crate::metrics as names;

/// Waits for tasks and locks them.
pub(super) async fn fetch_and_lock(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Body(fields): Body,
) -> Result<Response, CamundaError> {
    let request = FetchRequest::read(&fields, &tenant, &state.node.limits)?;
    if request.max_tasks == 0 || request.topics.is_empty() {
        return Ok(view::answer(&json!([])));
    }
    let started = Instant::now();
    let tasks = if request.is_plain() {
        plain(&state, &tenant, &request).await?
    } else {
        fetch_filtered::wait(&state, &tenant, &request).await?
    };
    metrics::histogram!(names::POLL_SECONDS).record(started.elapsed().as_secs_f64());
    shown(&state, &tenant, &request, &tasks).await.map(|tasks| view::answer(&tasks))
}

/// Served by the desk, together with everyone who waits for the same topics.
async fn plain(
    state: &AppState,
    tenant: &TenantId,
    request: &FetchRequest,
) -> Result<Vec<Task>, CamundaError> {
    let started = Instant::now();
    let longest = request.topics.values().map(|topic| topic.lock_ms).max();
    let desk_waits = Duration::from_secs(state.node.limits.poll_wait_seconds_max);
    loop {
        let parked = Instant::now();
        let poll = PollRequest {
            tenant: tenant.clone(),
            task_types: request.topics.keys().cloned().collect(),
            worker_id: Some(request.worker_id.clone()),
            max_tasks: request.max_tasks,
            wait: request.wait.saturating_sub(started.elapsed()),
            lock_ms: longest,
            request_id: None,
        };
        let tasks = state.node.desk.poll(poll).await?;
        // The desk has a longest wait of its own, which may be shorter than Camunda's. An answer before that means that
        // the worker has said goodbye, or the host is stopping.
        let over = started.elapsed() >= request.wait || parked.elapsed() < desk_waits;
        if !tasks.is_empty() || over || state.node.draining() {
            return relocked(state, request, longest, tasks).await;
        }
    }
}

/// A claim has one lock for all topics, the longest: the others are put right.
async fn relocked(
    state: &AppState,
    request: &FetchRequest,
    longest: Option<i64>,
    tasks: Vec<Task>,
) -> Result<Vec<Task>, CamundaError> {
    let lock_of = |task: &Task| request.topics.get(&task.task_type).map(|topic| topic.lock_ms);
    let (mut right, wrong): (Vec<Task>, Vec<Task>) =
        tasks.into_iter().partition(|task| lock_of(task) == longest);
    let wrong = wrong.into_iter().map(|task| (lock_of(&task).unwrap_or_default(), task));
    right.extend(state.node.engine.relock(wrong.map(|(lock_ms, task)| (task, lock_ms)).collect()).await?);
    right.sort_by_key(|task| (task.priority, task.created_at, task.id));
    Ok(right)
}

/// Tasks with the variables that they were asked for.
async fn shown(
    state: &AppState,
    tenant: &TenantId,
    request: &FetchRequest,
    tasks: &[Task],
) -> Result<Value, CamundaError> {
    if tasks.is_empty() {
        return Ok(json!([]));
    }
    let ids: Vec<InstanceId> = tasks.iter().map(|task| task.workflow_instance_id).collect();
    let instances = state.node.store.instances_of(tenant, &ids).await?;
    let instances: HashMap<InstanceId, Instance> = instances.into_iter().map(|i| (i.id, i)).collect();
    let nothing = json!({});
    let mut shown = Vec::with_capacity(tasks.len());
    for task in tasks {
        let instance = instances.get(&task.workflow_instance_id);
        let wish = request.topics.get(&task.task_type).map(|topic| topic.wish.clone()).unwrap_or_default();
        let context = instance.map_or(&nothing, |instance| &instance.context);
        let variables = variables::visible(task, context, &wish);
        let version = instance.map(|instance| instance.workflow_version);
        let wanted = request.topics.get(&task.task_type).is_some_and(|topic| topic.properties);
        let properties = match version.filter(|_| wanted) {
            Some(version) => properties(state, task, version).await?,
            None => json!({}),
        };
        shown.push(view::locked(task, version, variables, properties));
    }
    Ok(Value::Array(shown))
}

/// What the definition of a task's step says for its workers.
async fn properties(state: &AppState, task: &Task, version: i32) -> Result<Value, CamundaError> {
    let workflow = state.node.engine.workflow(&task.tenant, &task.workflow_key, version).await?;
    let step = workflow.steps.iter().find(|step| step.id == task.step_id);
    Ok(step.map_or_else(|| json!({}), |step| json!(step.properties)))
}
