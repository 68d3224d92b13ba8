//! Waits for events as operators see them: list, show, and mend what failed.

use axum::Json as JsonAnswer;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::{Id, Json, Named, Query};
use super::view::PageView;
use crate::domain::wait::{WaitState, WaitStatus};
use crate::domain::{StepExecutionId, Timestamp};
use crate::engine::port::events::WaitFilter;

/// A wait for events.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitState)]
pub(super) struct WaitView {
    id: Uuid,
    execution_id: Uuid,
    node_id: String,
    attempt: i32,
    correlation_id: String,
    /// all, any, required_only, custom, count or none.
    aggregation_strategy: String,
    required_events: Vec<String>,
    enabled_events: Vec<String>,
    api_call_enabled: bool,
    kafka_event_enabled: bool,
    /// What has come of each, so far.
    api_response_data: Option<Value>,
    kafka_event_data: Option<Value>,
    event_data: Option<Value>,
    received_events: Vec<String>,
    /// waiting, completed, timeout, failed, cancelled or retried.
    status: &'static str,
    warning: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    resumed_at: Option<Timestamp>,
    /// The host that let it go on.
    resumed_by: Option<String>,
    version: i32,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

impl From<WaitState> for WaitView {
    fn from(wait: WaitState) -> Self {
        Self {
            id: wait.id.0,
            execution_id: wait.execution_id.0,
            node_id: wait.node_id,
            attempt: wait.attempt,
            correlation_id: wait.correlation_id,
            aggregation_strategy: wait.aggregation_strategy,
            required_events: wait.required_events,
            enabled_events: wait.enabled_events,
            api_call_enabled: wait.api_call_enabled,
            kafka_event_enabled: wait.kafka_event_enabled,
            api_response_data: wait.api_response_data,
            kafka_event_data: wait.kafka_event_data,
            event_data: wait.event_data,
            received_events: wait.received_events,
            status: wait.status.label(),
            warning: wait.warning,
            resumed_at: wait.resumed_at,
            resumed_by: wait.resumed_by,
            version: wait.version,
            created_at: wait.created_at,
            updated_at: wait.updated_at,
            expires_at: wait.expires_at,
        }
    }
}

impl Named for StepExecutionId {
    const WHAT: &'static str = "a wait";
}

/// Lists waits, newest first.
#[utoipa::path(get, path = "/api/v1/wait-states", tag = "events",
    params(("instance" = Option<Uuid>, Query, description = "Only this instance's"),
        ("status" = Option<String>, Query, description = "waiting, completed, timeout, failed, cancelled or retried"),
        ("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<WaitView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<WaitView>>, Problem> {
    let status = query.word("status", &WaitStatus::ALL, WaitStatus::label)?;
    let filter = WaitFilter {
        execution_id: query.parsed("instance", "an instance's id, a UUID")?,
        statuses: status.into_iter().collect(),
    };
    page(&state, &tenant, &filter, &query).await
}

/// Lists waits that failed, with what had come, newest first: to be completed by hand, or retried.
#[utoipa::path(get, path = "/api/v1/wait-states/dead-letters", tag = "events",
    params(("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<WaitView>)))]
pub(super) async fn dead_letters(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<WaitView>>, Problem> {
    let statuses = WaitStatus::ALL.into_iter().filter(|status| status.dead()).collect();
    page(&state, &tenant, &WaitFilter { execution_id: None, statuses }, &query).await
}

async fn page(
    state: &AppState,
    tenant: &crate::domain::TenantId,
    filter: &WaitFilter,
    query: &Query,
) -> Result<JsonAnswer<PageView<WaitView>>, Problem> {
    let page = query.page(state.node.limits.page_rows_max)?;
    let rows = state.node.store.wait_states(tenant, filter, &page).await?;
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.id.0, Into::into)))
}

/// Shows a wait.
#[utoipa::path(get, path = "/api/v1/wait-states/{id}", tag = "events",
    params(("id" = Uuid, Path, description = "The wait")),
    responses((status = 200, body = WaitView), (status = 404, body = ProblemBody)))]
pub(super) async fn show(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<StepExecutionId>,
) -> Result<JsonAnswer<WaitView>, Problem> {
    let wait = state.node.store.wait_state(&tenant, id).await?;
    wait.map(|wait| JsonAnswer(wait.into()))
        .ok_or_else(|| Problem::not_found("wait_not_found", format!("there is no wait {id}")))
}

/// What a step shall go on with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
pub(super) struct CompleteBody {
    /// The step's output, as the wait would have made it.
    output: Value,
}

/// Completes a wait that failed, by hand: the instance that failed with it goes on with this output.
#[utoipa::path(post, path = "/api/v1/wait-states/{id}/complete", tag = "events",
    params(("id" = Uuid, Path, description = "The wait")),
    request_body = CompleteBody,
    responses((status = 200, body = WaitView), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn complete(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<StepExecutionId>,
    Json(body): Json<CompleteBody>,
) -> Result<JsonAnswer<WaitView>, Problem> {
    Ok(JsonAnswer(state.node.engine.mend_wait(&tenant, id, Some(body.output)).await?.into()))
}

/// Lets the step of a wait that failed begin again: the call is made anew, under a new correlation id.
#[utoipa::path(post, path = "/api/v1/wait-states/{id}/retry", tag = "events",
    params(("id" = Uuid, Path, description = "The wait")),
    responses((status = 200, body = WaitView), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn retry(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<StepExecutionId>,
) -> Result<JsonAnswer<WaitView>, Problem> {
    Ok(JsonAnswer(state.node.engine.mend_wait(&tenant, id, None).await?.into()))
}
