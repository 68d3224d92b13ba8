//! `fetchAndLock`: tasks of several topics, each with its own lock, now or as soon as there are some.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};

use super::body::Body;
use super::caller::Worker;
use super::delivery::Delivery;
use super::error::CamundaError;
use super::fetch_filtered;
use super::fetch_request::FetchRequest;
use super::{variables, view};
use crate::api::AppState;
use crate::dispatch::desk::PollRequest;
use crate::domain::definition::Workflow;
use crate::domain::instance::Instance;
use crate::domain::task::Task;
use crate::domain::{InstanceId, TenantId};
use crate::metrics as names;

/// What its workers are in the list of workers.
const WORKER_TYPE: &str = "camunda";

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
    state.node.workers.introduce(&tenant, &request.worker_id, WORKER_TYPE, state.node.clock.now());
    let tasks = match (request.is_plain(), request.is_ordered()) {
        (true, false) => plain(&state, &tenant, &request).await?,
        (true, true) => ordered(&state, &tenant, &request).await?,
        (false, _) => fetch_filtered::wait(&state, &tenant, &request).await?,
    };
    metrics::histogram!(names::POLL_SECONDS).record(started.elapsed().as_secs_f64());
    let answer = shown(&state, &tenant, &request, tasks.tasks()).await?;
    // From here on there is nothing to wait for.
    tasks.take();
    Ok(view::answer(&answer))
}

/// In an order of its own, of what waits; if nothing does, whatever comes is first.
async fn ordered(
    state: &AppState,
    tenant: &TenantId,
    request: &FetchRequest,
) -> Result<Delivery, CamundaError> {
    let waiting = fetch_filtered::look(state, tenant, request).await?;
    if waiting.tasks().is_empty() { plain(state, tenant, request).await } else { Ok(waiting) }
}

/// Served by the desk, together with everyone who waits for the same topics.
async fn plain(
    state: &AppState,
    tenant: &TenantId,
    request: &FetchRequest,
) -> Result<Delivery, CamundaError> {
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
            return relocked(state, request, longest, Delivery::of(state, tasks)).await;
        }
    }
}

/// A claim has one lock for all topics, the longest: the others are put right.
async fn relocked(
    state: &AppState,
    request: &FetchRequest,
    longest: Option<i64>,
    tasks: Delivery,
) -> Result<Delivery, CamundaError> {
    let lock_of = |task: &Task| request.topics.get(&task.task_type).map(|topic| topic.lock_ms);
    let (right, wrong): (Vec<Task>, Vec<Task>) =
        tasks.take().into_iter().partition(|task| lock_of(task) == longest);
    let mut right = Delivery::of(state, right);
    if !wrong.is_empty() {
        let wrong = wrong.into_iter().map(|task| (lock_of(&task).unwrap_or_default(), task));
        let wrong = wrong.map(|(lock_ms, task)| (task, lock_ms)).collect();
        let engine = Arc::clone(&state.node.engine);
        right.add(Delivery::lock(state, async move { engine.relock(wrong).await }).await?);
    }
    right.sort();
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
        let workflow = match instance.map(|instance| instance.workflow_version) {
            Some(version) => Some(state.node.engine.workflow(tenant, &task.workflow_key, version).await?),
            None => None,
        };
        let wanted = request.topics.get(&task.task_type).is_some_and(|topic| topic.properties);
        let properties = workflow.as_ref().filter(|_| wanted).and_then(|workflow| properties(task, workflow));
        let of = workflow.as_ref().map(|workflow| (workflow.version, workflow.version_tag.as_deref()));
        shown.push(view::locked(task, of, variables, properties.unwrap_or_else(|| json!({}))));
    }
    Ok(Value::Array(shown))
}

/// What the definition of a task's step says for its workers.
fn properties(task: &Task, workflow: &Workflow) -> Option<Value> {
    workflow.step(&task.step_id).map(|step| json!(step.properties))
}
