//! Tasks as operators see them, and dead letters.

use axum::Json as JsonAnswer;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::{Id, Query};
use super::view::{PageView, TaskView};
use crate::domain::task::TaskStatus;
use crate::domain::{TaskId, TenantId, Timestamp};
use crate::engine::Why;
use crate::engine::port::store::TaskFilter;

/// Lists tasks, newest first.
#[utoipa::path(get, path = "/api/v1/tasks", tag = "tasks",
    params(("status" = Option<String>, Query, description = "PENDING, LOCKED, COMPLETED, FAILED or CANCELLED"),
        ("taskType" = Option<String>, Query, description = "Only of this type"),
        ("instance" = Option<Uuid>, Query, description = "Only this instance's"),
        ("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<TaskView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<TaskView>>, Problem> {
    let status = query.word("status", &TaskStatus::ALL, TaskStatus::label)?;
    page(&state, &tenant, &query, status).await
}

/// Shows a task.
#[utoipa::path(get, path = "/api/v1/tasks/{id}", tag = "tasks",
    params(("id" = Uuid, Path, description = "The task")),
    responses((status = 200, body = TaskView), (status = 404, body = ProblemBody)))]
pub(super) async fn show(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<TaskId>,
) -> Result<JsonAnswer<TaskView>, Problem> {
    let task = state.node.store.task(&tenant, id).await?;
    task.map(|task| JsonAnswer(unproven(task.into())))
        .ok_or_else(|| Problem::not_found("task_not_found", format!("there is no task {id}")))
}

/// Why a task is not being handed out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Why)]
pub(super) struct WhyView {
    id: Uuid,
    task_type: String,
    /// PENDING, LOCKED, COMPLETED, FAILED or CANCELLED.
    status: &'static str,
    /// offered, behind_others, no_worker, waits_for_retry, locked, lock_expired, completed, dead_letter or cancelled.
    code: &'static str,
    /// What is so, and what can be done, for people.
    message: String,
    /// When that ends by itself.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// Who holds it, or held it last.
    worker_id: Option<String>,
    /// Tasks of its type that come first; counted up to a thousand.
    ahead: u32,
    /// Workers that poll its type, by name, the first ten.
    workers: Vec<String>,
}

impl From<Why> for WhyView {
    fn from(why: Why) -> Self {
        Self {
            id: why.task.id.0,
            task_type: why.task.task_type,
            status: why.task.status.label(),
            code: why.reason.label(),
            message: why.message,
            until: why.until,
            worker_id: why.task.worker_id,
            ahead: why.ahead,
            workers: why.workers,
        }
    }
}

/// Explains why a task is not being handed out.
#[utoipa::path(get, path = "/api/v1/tasks/{id}/why", tag = "tasks",
    params(("id" = Uuid, Path, description = "The task")),
    responses((status = 200, body = WhyView), (status = 404, body = ProblemBody)))]
pub(super) async fn why(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<TaskId>,
) -> Result<JsonAnswer<WhyView>, Problem> {
    let node = &state.node;
    super::workers::write_down(node).await;
    let polled = |task_type: &str| node.desk.waits_for(&tenant, task_type);
    Ok(JsonAnswer(node.engine.why(&tenant, id, polled).await?.into()))
}

/// Lists dead letters: tasks that failed for good, newest first.
#[utoipa::path(get, path = "/api/v1/dead-letters", tag = "tasks",
    params(("taskType" = Option<String>, Query, description = "Only of this type"),
        ("instance" = Option<Uuid>, Query, description = "Only this instance's"),
        ("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<TaskView>)))]
pub(super) async fn dead_letters(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<TaskView>>, Problem> {
    page(&state, &tenant, &query, Some(TaskStatus::Failed)).await
}

async fn page(
    state: &AppState,
    tenant: &TenantId,
    query: &Query,
    status: Option<TaskStatus>,
) -> Result<JsonAnswer<PageView<TaskView>>, Problem> {
    let page = query.page(state.node.limits.page_rows_max)?;
    let filter = TaskFilter {
        instance_id: query.parsed("instance", "an instance's id, a UUID")?,
        status,
        task_type: query.text("taskType"),
    };
    let rows = state.node.store.tasks(tenant, &filter, &page).await?;
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.id.0, |row| unproven(row.into()))))
}

/// A lock token belongs to the worker that was given it: others see the task without.
pub(super) fn unproven(mut task: TaskView) -> TaskView {
    task.lock_token = None;
    task
}
