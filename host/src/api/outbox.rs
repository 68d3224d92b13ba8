//! What leaves the host, as operators see it: what waits, and what was given up.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::{Id, Named, Query};
use super::view::PageView;
use crate::domain::Timestamp;
use crate::domain::timer::OutboxItem;

/// Something that leaves the host. What it carries is not shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OutgoingItem)]
pub(super) struct ItemView {
    id: Uuid,
    /// publish, http-call or notify.
    kind: String,
    instance_id: Uuid,
    step_execution_id: Uuid,
    /// Tries so far.
    attempts: i32,
    /// Why the last one failed.
    error: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it is tried next; of a dead letter, when it was given up.
    #[schema(value_type = String, format = DateTime)]
    due_at: Timestamp,
}

impl From<OutboxItem> for ItemView {
    fn from(item: OutboxItem) -> Self {
        Self {
            id: item.id,
            kind: item.kind,
            instance_id: item.instance_id.0,
            step_execution_id: item.step_execution_id.0,
            attempts: item.attempts,
            error: item.last_error,
            created_at: item.created_at,
            due_at: item.due_at,
        }
    }
}

/// The id of an item.
#[derive(Clone, Copy)]
pub(super) struct ItemId(Uuid);

impl std::str::FromStr for ItemId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Named for ItemId {
    const WHAT: &'static str = "an outgoing item";
}

/// Lists what waits to leave, newest first.
#[utoipa::path(get, path = "/api/v1/outbox", tag = "outbox",
    params(("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<ItemView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<ItemView>>, Problem> {
    let page = query.page(state.node.limits.page_rows_max)?;
    let rows = state.node.store.outbox(&tenant, &page).await?;
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.id, Into::into)))
}

/// Lists what was given up, newest first.
#[utoipa::path(get, path = "/api/v1/outbox/dead-letters", tag = "outbox",
    params(("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<ItemView>)))]
pub(super) async fn dead_letters(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<ItemView>>, Problem> {
    let page = query.page(state.node.limits.page_rows_max)?;
    let rows = state.node.store.dead_items(&tenant, &page).await?;
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.item.id, |row| row.item.into())))
}

/// Sends a dead letter again. Its step was told that it failed, and is told nothing more if it has ended.
#[utoipa::path(post, path = "/api/v1/outbox/dead-letters/{id}/retry", tag = "outbox",
    params(("id" = Uuid, Path, description = "The dead letter")),
    responses((status = 204), (status = 404, body = ProblemBody)))]
pub(super) async fn retry(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<ItemId>,
) -> Result<StatusCode, Problem> {
    state.node.engine.retry_dead_item(&tenant, id.0).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Forgets a dead letter.
#[utoipa::path(post, path = "/api/v1/outbox/dead-letters/{id}/discard", tag = "outbox",
    params(("id" = Uuid, Path, description = "The dead letter")),
    responses((status = 204), (status = 404, body = ProblemBody)))]
pub(super) async fn discard(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<ItemId>,
) -> Result<StatusCode, Problem> {
    state.node.engine.discard_dead_item(&tenant, id.0).await?;
    Ok(StatusCode::NO_CONTENT)
}
