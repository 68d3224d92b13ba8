//! What frameworks ask at start: which engine this is, in which version, and what is wrong with it.

use std::collections::HashMap;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use serde_json::{Value, json};

use super::body::{Fields, Params};
use super::caller::Worker;
use super::error::CamundaError;
use super::view::{self, date, definition_id, tenant_id};
use crate::api::AppState;
use crate::domain::incident::Incident;
use crate::domain::instance::Instance;
use crate::domain::page::PageRequest;
use crate::domain::{InstanceId, StepExecutionId, TaskId, TenantId};
use crate::engine::port::query::TaskQuery;

/// The version of Camunda whose surface this is.
const SPOKEN_VERSION: &str = "7.24.0";
/// Rows of one answer.
const ROWS_MAX: u32 = 500;
/// Tasks of their instances that are looked at for them.
const TASKS_MAX: u32 = 5_000;
/// The incident of a task that was given up.
const GIVEN_UP: &str = "failedExternalTask";

/// The routes.
pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/version", get(async || view::answer(&json!({ "version": SPOKEN_VERSION }))))
        .route("/engine", get(async || view::answer(&json!([{ "name": "default" }]))))
        .route("/incident", get(list))
        .route("/incident/count", get(count))
}

/// What an incident alone does not tell.
#[derive(Default)]
struct Around {
    definitions: HashMap<InstanceId, String>,
    tasks: HashMap<StepExecutionId, TaskId>,
}

impl Around {
    /// Reads it for some incidents.
    async fn of(state: &AppState, tenant: &TenantId, open: &[Incident]) -> Result<Self, CamundaError> {
        if open.is_empty() {
            return Ok(Self::default());
        }
        let ids: Vec<InstanceId> = open.iter().map(|incident| incident.instance_id).collect();
        let instances = state.node.store.instances_of(tenant, &ids).await?;
        let definition = |i: &Instance| (i.id, definition_id(&i.workflow_key, i.workflow_version));
        let query = TaskQuery {
            now: state.node.clock.now(),
            instance_ids: Some(ids),
            no_retries_left: true,
            rows_max: TASKS_MAX,
            ..TaskQuery::default()
        };
        let found = state.node.store.find_tasks(tenant, &query).await?;
        Ok(Self {
            definitions: instances.iter().map(definition).collect(),
            tasks: found.into_iter().map(|found| (found.task.step_execution_id, found.task.id)).collect(),
        })
    }

    /// An incident as Camunda writes it. Its configuration is the task that was given up.
    fn show(&self, incident: &Incident) -> Value {
        let task = self.tasks.get(&incident.step_execution_id);
        json!({
            "id": incident.id,
            "processDefinitionId": self.definitions.get(&incident.instance_id),
            "processInstanceId": incident.instance_id,
            "executionId": incident.step_execution_id,
            "incidentTimestamp": date(incident.created_at),
            "incidentType": incident.code,
            "activityId": incident.step_id,
            "failedActivityId": incident.step_id,
            "causeIncidentId": incident.id,
            "rootCauseIncidentId": incident.id,
            "configuration": task.filter(|_| incident.code == GIVEN_UP),
            "incidentMessage": incident.message,
            "tenantId": tenant_id(&incident.tenant),
            "jobDefinitionId": null,
            "annotation": null,
        })
    }
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
    let open = open(&state, &tenant, &params).await?;
    let around = Around::of(&state, &tenant, &open).await?;
    Ok(view::answer(&Value::Array(open.iter().map(|incident| around.show(incident)).collect())))
}

async fn count(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    Ok(view::answer(&json!({ "count": open(&state, &tenant, &params).await?.len() })))
}
