//! What frameworks ask at start: which engine this is, in which version, and what is wrong with it.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use serde_json::{Value, json};

use super::body::{Fields, Params};
use super::caller::Worker;
use super::error::CamundaError;
use super::view::{self, date, tenant_id};
use crate::api::AppState;
use crate::domain::incident::Incident;
use crate::domain::page::PageRequest;
use crate::domain::{InstanceId, TenantId};

/// The version of Camunda whose surface this is.
const SPOKEN_VERSION: &str = "7.24.0";
/// Rows of one answer.
const ROWS_MAX: u32 = 500;

/// The routes.
pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/version", get(async || view::answer(&json!({ "version": SPOKEN_VERSION }))))
        .route("/engine", get(async || view::answer(&json!([{ "name": "default" }]))))
        .route("/incident", get(list))
        .route("/incident/count", get(count))
}

fn shown(incident: &Incident) -> Value {
    let given_up = incident.code == "failedExternalTask";
    json!({
        "id": incident.id,
        "processDefinitionId": null,
        "processInstanceId": incident.instance_id,
        "executionId": incident.step_execution_id,
        "incidentTimestamp": date(incident.created_at),
        "incidentType": if given_up { "failedExternalTask" } else { incident.code.as_str() },
        "activityId": incident.step_id,
        "failedActivityId": incident.step_id,
        "causeIncidentId": incident.id,
        "rootCauseIncidentId": incident.id,
        "configuration": null,
        "incidentMessage": incident.message,
        "tenantId": tenant_id(&incident.tenant),
        "jobDefinitionId": null,
        "annotation": null,
    })
}

async fn open(state: &AppState, tenant: &TenantId, params: &Fields) -> Result<Vec<Incident>, CamundaError> {
    let instance = match params.text("processInstanceId")? {
        None => None,
        Some(id) => match id.parse::<InstanceId>() {
            Ok(id) => Some(id),
            Err(_) => return Ok(Vec::new()),
        },
    };
    let page = PageRequest { after: None, limit: ROWS_MAX };
    let mut open = state.node.store.incidents(tenant, instance, true, &page).await?;
    let (kind, activity) = (params.text("incidentType")?, params.text("activityId")?);
    open.truncate(ROWS_MAX as usize);
    open.retain(|incident| {
        kind.as_ref().is_none_or(|kind| *kind == incident.code)
            && activity.as_ref().is_none_or(|step| *step == incident.step_id)
    });
    Ok(open)
}

/// Open incidents, newest first.
async fn list(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    Ok(view::answer(&Value::Array(open(&state, &tenant, &params).await?.iter().map(shown).collect())))
}

async fn count(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    Ok(view::answer(&json!({ "count": open(&state, &tenant, &params).await?.len() })))
}
