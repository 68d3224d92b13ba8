//! Instances: start, list, show, timeline, cancel.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::{Id, Json, Name, Query};
use super::trace::Trace;
use super::view::{EntryView, FailureView, IncidentView, PageView, StepView};
use crate::domain::instance::{Instance, InstanceStatus};
use crate::domain::page::PageRequest;
use crate::domain::{InstanceId, Timestamp};
use crate::engine::StartRequest;
use crate::engine::port::store::InstanceFilter;

/// The longest idempotency key and business key.
const KEY_CHARACTERS_MAX: usize = 255;

/// A wish to start an instance.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartBody {
    /// The instance's data, an object.
    #[schema(value_type = Option<Object>)]
    context: Option<serde_json::Map<String, Value>>,
    /// What you call it.
    business_key: Option<String>,
    /// The newest if absent.
    version: Option<i32>,
    /// As the header Idempotency-Key.
    idempotency_key: Option<String>,
}

/// An instance that was started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartedView {
    id: Uuid,
    workflow_key: String,
    business_key: Option<String>,
    /// False if the idempotency key was used before: the id is that of the first start.
    created: bool,
}

/// An instance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Instance)]
pub(super) struct InstanceView {
    id: Uuid,
    workflow_key: String,
    workflow_version: i32,
    business_key: Option<String>,
    /// running, waiting, completed, failed, cancelled, paused or incident.
    pub(super) status: &'static str,
    error: Option<FailureView>,
    open_incidents: i32,
    traceparent: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Timestamp>,
    version: i64,
}

/// An instance with everything of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InstanceDetails)]
pub(super) struct DetailsView {
    #[serde(flatten)]
    instance: InstanceView,
    #[schema(value_type = Object)]
    context: Value,
    /// What it was started with.
    #[schema(value_type = Object)]
    trigger: Value,
    steps: Vec<StepView>,
    /// Open incidents.
    incidents: Vec<IncidentView>,
}

impl From<&Instance> for InstanceView {
    fn from(instance: &Instance) -> Self {
        Self {
            id: instance.id.0,
            workflow_key: instance.workflow_key.clone(),
            workflow_version: instance.workflow_version,
            business_key: instance.business_key.clone(),
            status: instance.status.label(),
            error: instance.error.clone().map(Into::into),
            open_incidents: instance.open_incidents,
            traceparent: instance.traceparent.clone(),
            created_at: instance.created_at,
            updated_at: instance.updated_at,
            ended_at: instance.ended_at,
            version: instance.version,
        }
    }
}

/// Starts an instance. With an idempotency key, a repeat starts nothing and answers with the first one's id.
#[utoipa::path(post, path = "/api/v1/workflows/{key}/instances", tag = "instances",
    params(("key" = String, Path, description = "The workflow's key"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes a repeat safe")),
    request_body = StartBody,
    responses((status = 201, body = StartedView), (status = 200, body = StartedView, description = "Started before"),
        (status = 404, body = ProblemBody), (status = 422, body = ProblemBody)))]
pub(super) async fn start(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Name(workflow_key): Name,
    Trace(traceparent): Trace,
    headers: HeaderMap,
    Json(body): Json<StartBody>,
) -> Result<(StatusCode, [(HeaderName, String); 1], JsonAnswer<StartedView>), Problem> {
    let header = headers.get("idempotency-key").map(|value| value.to_str().map(ToOwned::to_owned));
    let header = header.transpose().map_err(|_| Problem::field("Idempotency-Key", "is not plain ASCII"))?;
    let idempotency_key = header.or(body.idempotency_key).filter(|key| !key.is_empty());
    for (field, key) in [("idempotencyKey", &idempotency_key), ("businessKey", &body.business_key)] {
        if key.as_ref().is_some_and(|key| key.chars().count() > KEY_CHARACTERS_MAX) {
            return Err(Problem::field(field, format!("is longer than {KEY_CHARACTERS_MAX} characters")));
        }
    }
    let request = StartRequest {
        tenant,
        workflow_key: workflow_key.clone(),
        version: body.version,
        context: Value::Object(body.context.unwrap_or_default()),
        business_key: body.business_key.clone(),
        idempotency_key,
        traceparent: Some(traceparent),
    };
    let started = state.node.engine.start(request).await?;
    let status = if started.created { StatusCode::CREATED } else { StatusCode::OK };
    let view = StartedView {
        id: started.id.0,
        workflow_key,
        business_key: body.business_key,
        created: started.created,
    };
    Ok((status, [(LOCATION, format!("/api/v1/instances/{}", started.id))], JsonAnswer(view)))
}

/// Lists instances, newest first.
#[utoipa::path(get, path = "/api/v1/instances", tag = "instances",
    params(("workflow" = Option<String>, Query, description = "Only this workflow's"),
        ("status" = Option<String>, Query, description = "Only in this state"),
        ("businessKey" = Option<String>, Query, description = "Only with this business key"),
        ("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<InstanceView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<InstanceView>>, Problem> {
    let page = query.page(state.node.limits.page_rows_max)?;
    let filter = InstanceFilter {
        workflow_key: query.text("workflow").or_else(|| query.text("workflowKey")),
        status: query.word("status", &InstanceStatus::ALL, InstanceStatus::label)?,
        business_key: query.text("businessKey"),
    };
    let rows = state.node.store.instances(&tenant, &filter, &page).await?;
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.id.0, |row| InstanceView::from(&row))))
}

/// Shows an instance: its state, context, steps and open incidents.
#[utoipa::path(get, path = "/api/v1/instances/{id}", tag = "instances",
    params(("id" = Uuid, Path, description = "The instance")),
    responses((status = 200, body = DetailsView), (status = 404, body = ProblemBody)))]
pub(super) async fn show(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<InstanceId>,
) -> Result<JsonAnswer<DetailsView>, Problem> {
    let store = &state.node.store;
    let instance = store.instance(&tenant, id).await?.ok_or_else(|| not_found(id))?;
    let mut steps = store.steps(&tenant, id, None).await?;
    steps.sort_by_key(|step| step.id);
    let incidents = if instance.open_incidents == 0 {
        Vec::new()
    } else {
        let page = PageRequest { after: None, limit: state.node.limits.page_rows_max };
        store.incidents(&tenant, Some(id), true, &page).await?
    };
    Ok(JsonAnswer(DetailsView {
        instance: InstanceView::from(&instance),
        context: instance.context,
        trigger: instance.trigger,
        steps: steps.into_iter().map(Into::into).collect(),
        incidents: incidents.into_iter().map(Into::into).collect(),
    }))
}

/// Shows what happened to an instance, oldest first.
#[utoipa::path(get, path = "/api/v1/instances/{id}/timeline", tag = "instances",
    params(("id" = Uuid, Path, description = "The instance"),
        ("details" = Option<bool>, Query, description = "With each call and answer"),
        ("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<EntryView>), (status = 404, body = ProblemBody)))]
pub(super) async fn timeline(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<InstanceId>,
    query: Query,
) -> Result<JsonAnswer<PageView<EntryView>>, Problem> {
    let page = query.page(state.node.limits.page_rows_max)?;
    let details = query.parsed("details", "true or false")?.unwrap_or(false);
    state.node.store.instance(&tenant, id).await?.ok_or_else(|| not_found(id))?;
    let rows = state.node.store.journal(&tenant, id, &page).await?;
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.id, |row| EntryView::new(row, details))))
}

/// Why an instance is cancelled.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct CancelBody {
    /// For the timeline.
    reason: Option<String>,
}

/// Cancels an instance: its open tasks, timers and subscriptions are closed.
#[utoipa::path(post, path = "/api/v1/instances/{id}/cancel", tag = "instances",
    params(("id" = Uuid, Path, description = "The instance")), request_body = CancelBody,
    responses((status = 204), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn cancel(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<InstanceId>,
    Json(body): Json<CancelBody>,
) -> Result<StatusCode, Problem> {
    let reason = body.reason.unwrap_or_else(|| "cancelled by an operator".to_owned());
    state.node.engine.cancel(&tenant, id, &reason).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) fn not_found(id: InstanceId) -> Problem {
    Problem::not_found("instance_not_found", format!("there is no instance {id}"))
}
