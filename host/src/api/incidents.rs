//! Incidents: list, and resume after the plugin was mended.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::{Id, Query};
use super::view::{IncidentView, PageView};
use crate::domain::IncidentId;

/// Lists incidents, newest first; open ones unless `open=false`.
#[utoipa::path(get, path = "/api/v1/incidents", tag = "incidents",
    params(("open" = Option<bool>, Query, description = "false shows resolved ones too"),
        ("instance" = Option<Uuid>, Query, description = "Only this instance's"),
        ("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<IncidentView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<IncidentView>>, Problem> {
    let page = query.page(state.node.limits.page_rows_max)?;
    let open_only = query.parsed("open", "true or false")?.unwrap_or(true);
    let instance = query.parsed("instance", "an instance's id, a UUID")?;
    let rows = state.node.store.incidents(&tenant, instance, open_only, &page).await?;
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.id.0, Into::into)))
}

/// Runs the held call again, with the component that serves the type now.
#[utoipa::path(post, path = "/api/v1/incidents/{id}/resume", tag = "incidents",
    params(("id" = Uuid, Path, description = "The incident")),
    responses((status = 204), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn resume(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<IncidentId>,
) -> Result<StatusCode, Problem> {
    state.node.engine.resume(&tenant, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
