//! Workers report: `complete`, `failure`, `bpmnError`.

use axum::extract::State;
use axum::http::StatusCode;

use super::body::{Body, Names};
use super::caller::Worker;
use super::error::CamundaError;
use super::fetch_request::{LOCK_MS_MAX, worker};
use super::variables;
use crate::api::AppState;
use crate::domain::TaskId;
use crate::engine::{OwnerFailure, Refused};

/// Characters of an error message that are kept.
const MESSAGE_CHARACTERS_MAX: usize = 666;

/// Completes a task.
pub(super) async fn complete(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let global = variables::patch(&fields, "variables")?;
    let local = variables::patch(&fields, "localVariables")?;
    let (worker, id) = (worker(&fields)?, task_id(&id)?);
    let output = variables::output(&global, &local);
    let done = state.node.engine.complete_as_owner(&tenant, id, &worker, output, &global).await;
    settled(done, id, |owner| {
        format!(
            "External Task {id} cannot be completed by worker '{worker}'. It is locked by worker {owner}."
        )
    })
}

/// Fails a task.
pub(super) async fn failure(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let global = variables::patch(&fields, "variables")?;
    let local = variables::patch(&fields, "localVariables")?;
    let worker = worker(&fields)?;
    let retries = fields.int("retries")?.unwrap_or(0);
    if retries < 0 {
        return Err(CamundaError::engine("retries is not greater than or equal to 0"));
    }
    let timeout = fields.long("retryTimeout")?.unwrap_or(0);
    if timeout < 0 {
        return Err(CamundaError::engine("retryDuration is not greater than or equal to 0"));
    }
    let id = task_id(&id)?;
    let message = fields.text("errorMessage")?;
    let failure = OwnerFailure {
        message: message.map(|text| text.chars().take(MESSAGE_CHARACTERS_MAX).collect()),
        details: fields.text("errorDetails")?,
        retries,
        retry_timeout_ms: timeout.min(LOCK_MS_MAX),
        local: variables::kept(&local),
    };
    let done = state.node.engine.fail_as_owner(&tenant, id, &worker, &failure, &global).await;
    settled(done, id, |owner| {
        format!(
            "Failure of External Task {id} cannot be reported by worker '{worker}'. It is locked by worker {owner}."
        )
    })
}

/// Ends a task with a business error.
pub(super) async fn bpmn_error(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let global = variables::patch(&fields, "variables")?;
    let worker = worker(&fields)?;
    let code = fields.text("errorCode")?.ok_or_else(|| CamundaError::null("errorCode"))?;
    let message = fields.text("errorMessage")?;
    let id = task_id(&id)?;
    let error = (code.as_str(), message.as_deref());
    let done = state.node.engine.business_error(&tenant, id, &worker, error, &global).await;
    settled(done, id, |owner| {
        format!(
            "Bpmn error of External Task {id} cannot be reported by worker '{worker}'. It is locked by worker {owner}."
        )
    })
}

/// The answer to a report or a change of a lock; `taken` says so in Camunda's words if another worker holds the task.
pub(super) fn settled(
    done: Result<(), Refused>,
    id: TaskId,
    taken: impl Fn(&str) -> String,
) -> Result<StatusCode, CamundaError> {
    done.map_err(|refused| CamundaError::refused(refused, id, taken))?;
    Ok(StatusCode::NO_CONTENT)
}

/// A task's id; what cannot be one names no task.
pub(super) fn task_id(id: &str) -> Result<TaskId, CamundaError> {
    id.parse().map_err(|_| CamundaError::no_task(id))
}
