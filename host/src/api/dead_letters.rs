//! Dead letters, one by one: show, offer again, discard.

use axum::Json as JsonAnswer;
use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::{Id, Json};
use super::tasks::unproven;
use super::view::TaskView;
use crate::domain::TaskId;
use crate::domain::task::TaskStatus;

/// The longest reason.
const REASON_BYTES_MAX: usize = 2_000;

/// Shows a dead letter.
#[utoipa::path(get, path = "/api/v1/dead-letters/{id}", tag = "tasks",
    params(("id" = Uuid, Path, description = "The task")),
    responses((status = 200, body = TaskView), (status = 404, body = ProblemBody)))]
pub(super) async fn show(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<TaskId>,
) -> Result<JsonAnswer<TaskView>, Problem> {
    let task = state.node.store.task(&tenant, id).await?.filter(|task| task.status == TaskStatus::Failed);
    task.map(|task| JsonAnswer(unproven(task.into())))
        .ok_or_else(|| Problem::not_found("dead_letter_not_found", format!("there is no dead letter {id}")))
}

/// How a dead letter is offered again.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
pub(super) struct RetryBody {
    /// Attempts in all; as the workflow says if absent.
    attempts: Option<u32>,
}

/// Offers a dead letter again: the instance that failed with it goes on. A failure that `onError` took stays.
#[utoipa::path(post, path = "/api/v1/dead-letters/{id}/retry", tag = "tasks",
    params(("id" = Uuid, Path, description = "The task")),
    request_body = RetryBody,
    responses((status = 200, body = TaskView), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn retry(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<TaskId>,
    Json(body): Json<RetryBody>,
) -> Result<JsonAnswer<TaskView>, Problem> {
    let task = state.node.engine.retry_dead_letter(&tenant, id, body.attempts).await?;
    Ok(JsonAnswer(unproven(task.into())))
}

/// Why a dead letter is discarded.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
pub(super) struct DiscardBody {
    /// For the timeline.
    reason: Option<String>,
}

/// Takes a dead letter off the list; it is CANCELLED from then on, with what it had. Its instance stays as it is.
#[utoipa::path(post, path = "/api/v1/dead-letters/{id}/discard", tag = "tasks",
    params(("id" = Uuid, Path, description = "The task")),
    request_body = DiscardBody,
    responses((status = 200, body = TaskView), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn discard(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<TaskId>,
    Json(body): Json<DiscardBody>,
) -> Result<JsonAnswer<TaskView>, Problem> {
    let reason = body.reason.unwrap_or_default();
    if reason.len() > REASON_BYTES_MAX {
        return Err(Problem::field("reason", format!("has more than {REASON_BYTES_MAX} bytes, the limit")));
    }
    let task = state.node.engine.discard_dead_letter(&tenant, id, &reason).await?;
    Ok(JsonAnswer(unproven(task.into())))
}
