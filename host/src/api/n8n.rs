//! External tasks for n8n and any other HTTP worker: poll, complete, fail, heartbeat, unlock.

use std::time::{Duration, Instant};

use axum::Json as JsonAnswer;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::access::Worker;
use super::error::{Problem, ProblemBody};
use super::extract::{Id, Json, Query};
use super::view::TaskView;
use super::{AppState, method_not_allowed};
use crate::dispatch::desk::PollRequest;
use crate::domain::task::{Holder, seconds_to_millis};
use crate::domain::{TaskId, TenantId, Timestamp};
use crate::engine::{HeartbeatAnswer, WorkerFailure};
use crate::metrics as names;

/// The wait of a poll that names none.
const WAIT_SECONDS: u64 = 30;
/// Task types and patterns of one poll.
const TASK_TYPES_MAX: usize = 100;
/// The longest task type or pattern.
const TASK_TYPE_BYTES_MAX: usize = 500;
/// The longest name of a worker, of its type and of a request.
const NAME_BYTES_MAX: usize = 200;
/// The longest lock and the longest wait for a retry that a worker may ask for: ten years.
const SECONDS_MAX: f64 = 315_360_000.0;

/// Waits for tasks and locks them.
#[utoipa::path(get, path = "/api/n8n/external-tasks/poll", tag = "external tasks",
    params(("taskType" = String, Query, description = "A type, a pattern such as `n8n-jira-*`, several of \
            them with commas, or repeated"),
        ("workerId" = Option<String>, Query, description = "Who asks"),
        ("workerType" = Option<String>, Query, description = "What the worker is, such as n8n, for the list of workers"),
        ("maxTasks" = Option<u32>, Query, description = "At most so many, 1 if absent; over the host's limit is an error"),
        ("waitSeconds" = Option<u64>, Query, description = "How long to wait if there are none, 30 if absent; over the \
            host's limit is an error"),
        ("lockDurationSeconds" = Option<f64>, Query, description = "How long to hold them; else as the tasks say"),
        ("requestId" = Option<String>, Query, description = "A repeat with the same name gets the same tasks")),
    responses((status = 200, body = Vec<TaskView>), (status = 204, description = "There was none"),
        (status = 400, body = ProblemBody), (status = 429, body = ProblemBody)))]
pub(super) async fn poll(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    method: Method,
    uri: axum::http::Uri,
    query: Query,
) -> Result<Response, Problem> {
    // A HEAD request would lock tasks that its client never sees.
    if method == Method::HEAD {
        return Err(method_not_allowed(method, uri).await);
    }
    let request = poll_request(&state, tenant, &query)?;
    if let (Some(worker), Some(kind)) = (&request.worker_id, name(&query, "workerType")?) {
        state.node.workers.introduce(&request.tenant, worker, &kind, state.node.clock.now());
    }
    let started = Instant::now();
    let tasks = state.node.desk.poll(request).await?;
    metrics::histogram!(names::POLL_SECONDS).record(started.elapsed().as_secs_f64());
    if tasks.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(JsonAnswer(tasks.into_iter().map(TaskView::from).collect::<Vec<_>>()).into_response())
}

/// What a poll asks for, within the host's limits: who asks for more is told, not served less.
fn poll_request(state: &AppState, tenant: TenantId, query: &Query) -> Result<PollRequest, Problem> {
    let limits = &state.node.limits;
    let max_tasks = query.parsed::<u32>("maxTasks", "a whole number from 1")?.unwrap_or(1);
    if max_tasks == 0 || max_tasks > limits.poll_tasks_max {
        let most = limits.poll_tasks_max;
        let message = format!("is {max_tasks}; expected 1 to {most} (the limit is poll_tasks_max)");
        return Err(Problem::field("maxTasks", message));
    }
    let longest = limits.poll_wait_seconds_max;
    let wait = query.parsed("waitSeconds", "a whole number of seconds")?;
    if let Some(wait) = wait.filter(|wait| *wait > longest) {
        let message =
            format!("is {wait}; expected 0 to {longest} seconds (the limit is poll_wait_seconds_max)");
        return Err(Problem::field("waitSeconds", message));
    }
    let lock = query.parsed::<f64>("lockDurationSeconds", "a number of seconds")?;
    Ok(PollRequest {
        tenant,
        task_types: task_types(query)?,
        worker_id: name(query, "workerId")?,
        max_tasks,
        wait: Duration::from_secs(wait.unwrap_or(WAIT_SECONDS.min(longest))),
        lock_ms: lock.map(|seconds| seconds_within("lockDurationSeconds", seconds, 0.001)).transpose()?,
        request_id: name(query, "requestId")?,
    })
}

fn task_types(query: &Query) -> Result<Vec<String>, Problem> {
    let named = query.all("taskType").flat_map(|types| types.split(',')).map(str::trim);
    // One more than allowed tells that there are too many.
    let types: Vec<String> =
        named.filter(|name| !name.is_empty()).map(ToOwned::to_owned).take(TASK_TYPES_MAX + 1).collect();
    if types.is_empty() {
        return Err(Problem::field("taskType", "is missing; name the type of tasks that you work on"));
    }
    if types.len() > TASK_TYPES_MAX {
        return Err(Problem::field("taskType", format!("names more than {TASK_TYPES_MAX} types, the limit")));
    }
    if types.iter().any(|name| name.len() > TASK_TYPE_BYTES_MAX) {
        let message = format!("has a name of more than {TASK_TYPE_BYTES_MAX} bytes, the limit");
        return Err(Problem::field("taskType", message));
    }
    Ok(types)
}

/// A short name among the parameters.
fn name(query: &Query, parameter: &str) -> Result<Option<String>, Problem> {
    let name = query.text(parameter);
    if name.as_ref().is_some_and(|name| name.len() > NAME_BYTES_MAX) {
        return Err(Problem::field(parameter, format!("has more than {NAME_BYTES_MAX} bytes, the limit")));
    }
    Ok(name)
}

/// Completes a task; the body is its output. A repeat after a lost answer succeeds and changes nothing.
#[utoipa::path(post, path = "/api/n8n/external-tasks/{id}/complete", tag = "external tasks",
    params(("id" = Uuid, Path, description = "The task"),
        ("X-Worker-Id" = Option<String>, Header, description = "Who holds it; also `workerId`"),
        ("X-Lock-Token" = Option<String>, Header, description = "The task's lock token; also `lockToken`")),
    request_body(content = Object, description = "The output"),
    responses((status = 200, body = TaskView), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn complete(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Id(id): Id<TaskId>,
    HeldBy(holder): HeldBy,
    Json(output): Json<Option<serde_json::Map<String, Value>>>,
) -> Result<JsonAnswer<TaskView>, Problem> {
    let output = Value::Object(output.unwrap_or_default());
    let task = state.node.engine.complete(&tenant, id, &holder, output).await?;
    Ok(JsonAnswer(task.into()))
}

/// What went wrong.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct FailBody {
    /// For people.
    message: Option<String>,
    /// The same.
    error_message: Option<String>,
    /// Kept with the task.
    stack_trace: Option<String>,
    /// A code for `onError`.
    code: Option<String>,
    /// The same.
    error_code: Option<String>,
    /// Seconds before the next attempt, if you know better than the policy.
    retry_delay: Option<f64>,
    /// The same.
    retry_delay_seconds: Option<f64>,
    /// Another attempt would not help.
    no_retry: bool,
}

/// Fails a task: it is offered again, or becomes a dead letter.
#[utoipa::path(post, path = "/api/n8n/external-tasks/{id}/fail", tag = "external tasks",
    params(("id" = Uuid, Path, description = "The task"),
        ("X-Worker-Id" = Option<String>, Header, description = "Who holds it; also `workerId`"),
        ("X-Lock-Token" = Option<String>, Header, description = "The task's lock token; also `lockToken`")),
    request_body = FailBody,
    responses((status = 200, body = TaskView), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn fail(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Id(id): Id<TaskId>,
    HeldBy(holder): HeldBy,
    Json(body): Json<FailBody>,
) -> Result<JsonAnswer<TaskView>, Problem> {
    let task = state.node.engine.fail(&tenant, id, &holder, body.failure()?).await?;
    Ok(JsonAnswer(task.into()))
}

impl FailBody {
    /// What the engine is told.
    pub(super) fn failure(self) -> Result<WorkerFailure, Problem> {
        let delay = self.retry_delay_seconds.or(self.retry_delay);
        let delay_ms = delay.map(|seconds| seconds_within("retryDelaySeconds", seconds, 0.0)).transpose()?;
        let message = self.message.or(self.error_message);
        Ok(WorkerFailure {
            code: self.code.or(self.error_code).filter(|code| !code.is_empty()),
            message: message.unwrap_or_else(|| "the worker gave no reason".to_owned()),
            details: self.stack_trace,
            retry_delay_ms: delay_ms.and_then(|delay| u64::try_from(delay).ok()),
            no_retry: self.no_retry,
        })
    }
}

/// A sign of life.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
pub(super) struct HeartbeatBody {
    /// What the next attempt shall know, should this one end.
    checkpoint: Option<Value>,
}

/// The answer to a sign of life.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HeartbeatView {
    /// `continue`; `stop` if the task has ended; `lost` if you do not hold it any more.
    status: &'static str,
    /// The lock's new end.
    #[schema(value_type = Option<String>, format = DateTime)]
    lock_expires_at: Option<Timestamp>,
}

/// Says that the worker is alive: the lock lasts longer. The answer may tell it to stop.
#[utoipa::path(post, path = "/api/n8n/external-tasks/{id}/heartbeat", tag = "external tasks",
    params(("id" = Uuid, Path, description = "The task"),
        ("X-Worker-Id" = Option<String>, Header, description = "Who holds it; also `workerId`"),
        ("X-Lock-Token" = Option<String>, Header, description = "The task's lock token; also `lockToken`")),
    request_body = HeartbeatBody,
    responses((status = 200, body = HeartbeatView), (status = 404, body = ProblemBody)))]
pub(super) async fn heartbeat(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Id(id): Id<TaskId>,
    HeldBy(holder): HeldBy,
    Json(body): Json<HeartbeatBody>,
) -> Result<JsonAnswer<HeartbeatView>, Problem> {
    let answer = state.node.engine.heartbeat(&tenant, id, &holder, body.checkpoint).await?;
    let (status, lock_expires_at) = match answer {
        HeartbeatAnswer::Continue { lock_expires_at } => ("continue", Some(lock_expires_at)),
        HeartbeatAnswer::Stop => ("stop", None),
        HeartbeatAnswer::Lost => ("lost", None),
    };
    Ok(JsonAnswer(HeartbeatView { status, lock_expires_at }))
}

/// Gives a task back as if it had never been taken: no attempt is spent, and the next poll gets it at once.
#[utoipa::path(post, path = "/api/n8n/external-tasks/{id}/unlock", tag = "external tasks",
    params(("id" = Uuid, Path, description = "The task"),
        ("X-Worker-Id" = Option<String>, Header, description = "Who holds it; also `workerId`"),
        ("X-Lock-Token" = Option<String>, Header, description = "The task's lock token; also `lockToken`")),
    responses((status = 200, body = TaskView), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn unlock(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Id(id): Id<TaskId>,
    HeldBy(holder): HeldBy,
) -> Result<JsonAnswer<TaskView>, Problem> {
    let task = state.node.engine.unlock(&tenant, id, &holder).await?;
    Ok(JsonAnswer(task.into()))
}

/// Who speaks for a task, by headers or parameters.
pub(super) struct HeldBy(Holder);

impl FromRequestParts<AppState> for HeldBy {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let query = Query::from_request_parts(parts, state).await?;
        let header = |name: &str| {
            let value = parts.headers.get(name).and_then(|value| value.to_str().ok());
            value.filter(|value| !value.is_empty()).map(ToOwned::to_owned)
        };
        let lock_token = header("x-lock-token").or_else(|| query.text("lockToken"));
        let lock_token = lock_token
            .map(|text| {
                text.parse().map_err(|_| Problem::field("lockToken", "is not a lock token, which is a UUID"))
            })
            .transpose()?;
        Ok(Self(Holder { worker_id: header("x-worker-id").or_else(|| query.text("workerId")), lock_token }))
    }
}

fn seconds_within(field: &str, seconds: f64, least: f64) -> Result<i64, Problem> {
    if (least..=SECONDS_MAX).contains(&seconds) {
        Ok(seconds_to_millis(seconds))
    } else {
        Err(Problem::field(field, format!("is {seconds}; expected seconds from {least} to {SECONDS_MAX}")))
    }
}
