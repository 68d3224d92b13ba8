//! Many reports in one request: each has its own result, and all of them go into the next commits together.

use axum::Json as JsonAnswer;
use axum::extract::State;
use futures::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::Worker;
use super::error::{Problem, ProblemBody};
use super::extract::Json;
use super::n8n::FailBody;
use super::view::TaskView;
use crate::domain::task::{Holder, Task};
use crate::domain::{LockToken, TaskId};

/// Results of several tasks.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompleteBatch {
    /// Each with its output.
    tasks: Vec<CompleteItem>,
}

/// The result of one task.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompleteItem {
    /// The task.
    id: Uuid,
    /// Who holds it.
    worker_id: Option<String>,
    /// What proves it.
    lock_token: Option<Uuid>,
    /// The output; an empty object if absent.
    #[schema(value_type = Option<Object>)]
    output: Option<serde_json::Map<String, Value>>,
}

/// What went wrong with several tasks.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FailBatch {
    /// Each with its own reason.
    tasks: Vec<FailItem>,
}

/// What went wrong with one task.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FailItem {
    /// The task.
    id: Uuid,
    /// Who holds it.
    worker_id: Option<String>,
    /// What proves it.
    lock_token: Option<Uuid>,
    /// As for one task alone.
    #[serde(flatten)]
    failure: FailBody,
}

/// What became of each, in the order of the request.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BatchView {
    /// One for each task of the request.
    results: Vec<ResultView>,
    /// How many of them were refused.
    refused: usize,
}

/// What became of one report.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ResultView {
    /// The task.
    id: Uuid,
    /// The status that the report would have had alone.
    status: u16,
    /// The task, if the report was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<TaskView>,
    /// Why it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ProblemBody>,
}

/// Completes many tasks; a repeat after a lost answer succeeds and changes nothing.
#[utoipa::path(post, path = "/api/n8n/external-tasks/complete", tag = "external tasks",
    request_body = CompleteBatch,
    responses((status = 200, body = BatchView, description = "Each task's own result; look at `refused`")))]
pub(super) async fn complete(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Json(batch): Json<CompleteBatch>,
) -> Result<JsonAnswer<BatchView>, Problem> {
    bounded(&state, batch.tasks.len())?;
    let reports = batch.tasks.into_iter().map(|item| {
        let (engine, tenant) = (&state.node.engine, &tenant);
        async move {
            let holder = holder(item.worker_id, item.lock_token);
            let output = Value::Object(item.output.unwrap_or_default());
            let done = engine.complete(tenant, TaskId(item.id), &holder, output).await;
            result(item.id, done.map_err(Problem::from))
        }
    });
    Ok(JsonAnswer(BatchView::of(join_all(reports).await)))
}

/// Fails many tasks: each is offered again, or becomes a dead letter.
#[utoipa::path(post, path = "/api/n8n/external-tasks/fail", tag = "external tasks",
    request_body = FailBatch,
    responses((status = 200, body = BatchView, description = "Each task's own result; look at `refused`")))]
pub(super) async fn fail(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Json(batch): Json<FailBatch>,
) -> Result<JsonAnswer<BatchView>, Problem> {
    bounded(&state, batch.tasks.len())?;
    let reports = batch.tasks.into_iter().map(|item| {
        let (engine, tenant) = (&state.node.engine, &tenant);
        async move {
            let holder = holder(item.worker_id, item.lock_token);
            let failed = match item.failure.failure() {
                Ok(failure) => {
                    engine.fail(tenant, TaskId(item.id), &holder, failure).await.map_err(Problem::from)
                }
                Err(problem) => Err(problem),
            };
            result(item.id, failed)
        }
    });
    Ok(JsonAnswer(BatchView::of(join_all(reports).await)))
}

impl BatchView {
    fn of(results: Vec<ResultView>) -> Self {
        Self { refused: results.iter().filter(|result| result.problem.is_some()).count(), results }
    }
}

fn result(id: Uuid, outcome: Result<Task, Problem>) -> ResultView {
    match outcome {
        Ok(task) => ResultView { id, status: 200, task: Some(task.into()), problem: None },
        Err(problem) => {
            let problem = problem.body();
            ResultView { id, status: problem.status, task: None, problem: Some(problem) }
        }
    }
}

fn holder(worker_id: Option<String>, lock_token: Option<Uuid>) -> Holder {
    Holder { worker_id, lock_token: lock_token.map(LockToken) }
}

fn bounded(state: &AppState, count: usize) -> Result<(), Problem> {
    let max = state.node.limits.batch_reports_max;
    if count == 0 || count > max {
        let message = format!("has {count} reports; expected 1 to {max} (the limit is batch_reports_max)");
        return Err(Problem::field("tasks", message));
    }
    Ok(())
}
