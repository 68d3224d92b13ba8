//! One task's lock, retries and priority.

use axum::extract::State;
use axum::http::StatusCode;

use super::body::{Body, Names};
use super::caller::{Operator, Worker};
use super::error::{CamundaError, Kind};
use super::fetch_request::{lock_ms, worker};
use super::reports::{settled, task_id};
use super::view;
use crate::api::AppState;
use crate::domain::TaskId;
use crate::engine::Refused;

/// Locks a task.
pub(super) async fn lock(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let worker = worker(&fields)?;
    let duration = fields.long("lockDuration")?.unwrap_or(0);
    let (lock_ms, id) = (lock_ms(duration, "lockDuration", CamundaError::rest)?, task_id(&id)?);
    let done = state.node.engine.lock_task(&tenant, id, &worker, lock_ms).await;
    settled(done, id, |owner| {
        format!("External Task {id} cannot be locked by worker '{worker}'. It is locked by worker {owner}.")
    })
}

/// Extends a lock, counted from now.
pub(super) async fn extend(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let worker = worker(&fields)?;
    let duration = fields.long("newDuration")?.unwrap_or(0);
    let (lock_ms, id) = (lock_ms(duration, "lockTime", CamundaError::rest)?, task_id(&id)?);
    let done = state.node.engine.extend_lock(&tenant, id, &worker, lock_ms).await;
    // The doubled quote is Camunda's.
    settled(done, id, |owner| {
        format!(
            "The lock of the External Task {id} cannot be extended by worker '{worker}''. It is locked by worker {owner}."
        )
    })
}

/// Takes a lock away. There is no body, and nobody is asked who they are.
pub(super) async fn unlock(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
) -> Result<StatusCode, CamundaError> {
    let id = task_id(&id)?;
    done(state.node.engine.unlock_task(&tenant, id).await, id)
}

/// Sets how many attempts are left.
pub(super) async fn retries(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Names(id): Names<String>,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let retries = attempts(fields.int("retries")?, Kind::BadUserRequest)?;
    let id = task_id(&id)?;
    done(state.node.engine.set_retries(&tenant, id, retries).await, id)
}

/// Sets the priority.
pub(super) async fn priority(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Names(id): Names<String>,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let priority = fields.long("priority")?;
    let priority = priority.ok_or_else(|| CamundaError::invalid("The priority cannot be null."))?;
    let id = task_id(&id)?;
    done(state.node.engine.set_priority(&tenant, id, view::priority(priority)).await, id)
}

/// Attempts that may be set. What fewer than none is called depends on the route.
pub(super) fn attempts(retries: Option<i32>, negative: Kind) -> Result<i32, CamundaError> {
    match retries {
        None => Err(CamundaError::invalid("The number of retries cannot be null.")),
        Some(retries) if retries < 0 => Err(CamundaError::new(
            400,
            negative,
            "The number of retries cannot be negative: retries is not greater than or equal to 0",
        )),
        Some(retries) => Ok(retries),
    }
}

fn done(done: Result<(), Refused>, id: TaskId) -> Result<StatusCode, CamundaError> {
    settled(done, id, |owner| format!("External Task {id} is locked by worker {owner}."))
}
