//! Workers: who polls for what, who works, who is gone; and the goodbye of one that stops.

use axum::Json as JsonAnswer;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::{Operator, Worker as WorkerToken};
use super::error::{Problem, ProblemBody};
use super::extract::{Name, Query};
use super::view::PageView;
use crate::domain::Timestamp;
use crate::domain::worker::Worker;
use crate::node::Node;

/// A worker, as the hosts have heard of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Worker)]
pub(super) struct WorkerView {
    id: Uuid,
    worker_id: String,
    /// What it calls itself, such as n8n.
    worker_type: Option<String>,
    /// Task types and patterns that it polls for.
    task_types: Vec<String>,
    /// ACTIVE if it works on tasks, IDLE if it only polls, DEAD if it said goodbye or is silent.
    status: &'static str,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_poll_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_heartbeat_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    last_seen_at: Timestamp,
    polls: i64,
    tasks_completed: i64,
    /// Failed attempts that it reported.
    tasks_failed: i64,
    /// Over the last minute or more.
    polls_per_minute: f64,
    /// Over the last minute or more.
    completed_per_minute: f64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl WorkerView {
    fn new(worker: Worker, now: Timestamp) -> Self {
        let status = worker.status_at(now).label();
        let (polls_per_minute, completed_per_minute) = worker.rates_at(now);
        Self {
            id: worker.id,
            worker_id: worker.worker_id,
            worker_type: worker.worker_type,
            task_types: worker.task_types.unwrap_or_default(),
            status,
            last_poll_at: worker.last_poll_at,
            last_heartbeat_at: worker.last_heartbeat_at,
            last_seen_at: worker.last_seen_at,
            polls: worker.polls,
            tasks_completed: worker.tasks_completed,
            tasks_failed: worker.tasks_failed,
            polls_per_minute,
            completed_per_minute,
            created_at: worker.created_at,
            updated_at: worker.updated_at,
        }
    }
}

/// What this host has heard is in the database before it is read; the time as of which it is.
pub(super) async fn write_down(node: &Node) -> Timestamp {
    let now = node.clock.now();
    if let Err(error) = node.workers.flush(&node.engine, now).await {
        tracing::debug!(%error, "what was heard of workers lately is not shown");
    }
    now
}

/// Lists workers that named themselves when they polled, newest first.
#[utoipa::path(get, path = "/api/v1/workers", tag = "workers",
    params(("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<WorkerView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<WorkerView>>, Problem> {
    let (node, page) = (&state.node, query.page(state.node.limits.page_rows_max)?);
    let now = write_down(node).await;
    let rows = node.store.workers(&tenant, None, &page).await?;
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.id, |row| WorkerView::new(row, now))))
}

/// Shows a worker.
#[utoipa::path(get, path = "/api/v1/workers/{id}", tag = "workers",
    params(("id" = String, Path, description = "The name that it gave as `workerId`")),
    responses((status = 200, body = WorkerView), (status = 404, body = ProblemBody)))]
pub(super) async fn show(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Name(worker_id): Name,
) -> Result<JsonAnswer<WorkerView>, Problem> {
    let node = &state.node;
    let now = write_down(node).await;
    let worker = node.store.worker(&tenant, &worker_id).await?;
    worker.map(|worker| JsonAnswer(WorkerView::new(worker, now))).ok_or_else(|| {
        Problem::not_found("worker_not_found", format!("no worker `{worker_id}` has been heard of"))
    })
}

/// What a goodbye led to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GoodbyeView {
    /// Tasks that are offered to others again; no attempt was spent.
    tasks_released: usize,
}

/// A worker stops: its parked polls are answered, and the tasks that it holds are offered again at once.
#[utoipa::path(post, path = "/api/v1/workers/{id}/goodbye", tag = "workers",
    params(("id" = String, Path, description = "The name that it gave as `workerId`")),
    responses((status = 200, body = GoodbyeView)))]
pub(super) async fn goodbye(
    State(state): State<AppState>,
    WorkerToken(tenant): WorkerToken,
    Name(worker_id): Name,
) -> Result<JsonAnswer<GoodbyeView>, Problem> {
    let tasks_released = state.node.desk.goodbye(&tenant, &worker_id).await?;
    Ok(JsonAnswer(GoodbyeView { tasks_released }))
}
