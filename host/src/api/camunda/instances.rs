//! Process instances and their variables, and executions, which are the same to workers that download files.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde_json::{Map, Value, json};

use super::body::{Body, Fields, Names, Params};
use super::caller::{Operator, Worker};
use super::error::{CamundaError, Kind};
use super::view::{self, definition_id, tenant_id};
use super::{value, variables};
use crate::api::AppState;
use crate::domain::instance::{Instance, InstanceStatus};
use crate::domain::page::PageRequest;
use crate::domain::variable::{Patch, TYPES, of_context};
use crate::domain::{InstanceId, StepExecutionId, TenantId};
use crate::engine::port::store::InstanceFilter;

/// Rows of one answer.
const ROWS_MAX: u32 = 500;
/// Rows in each state that are looked through for a later page, or counted.
const COUNTED_MAX: usize = 10_000;

/// The routes.
pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/process-instance", get(list).post(list_by_body))
        .route("/process-instance/count", get(count))
        .route("/process-instance/{id}", get(show))
        .route("/process-instance/{id}/variables", get(all).post(modify))
        .route("/process-instance/{id}/variables/{name}", get(one).put(set).delete(remove))
        .route("/process-instance/{id}/variables/{name}/data", get(data))
        .route("/execution/{id}/localVariables", get(all).post(modify))
        .route("/execution/{id}/localVariables/{name}", get(one).put(set).delete(remove))
        .route("/execution/{id}/localVariables/{name}/data", get(data))
}

/// An instance as Camunda writes it.
pub(super) fn view(instance: &Instance) -> Value {
    json!({
        "links": [],
        "id": instance.id,
        "definitionId": definition_id(&instance.workflow_key, instance.workflow_version),
        "definitionKey": instance.workflow_key,
        "businessKey": instance.business_key,
        "caseInstanceId": null,
        "ended": instance.status.ended(),
        "suspended": instance.status == InstanceStatus::Paused,
        "tenantId": tenant_id(&instance.tenant),
    })
}

/// The variables of a context.
pub(super) fn variables_of(context: &Value, deserialize: bool) -> Value {
    let shown: Map<String, Value> = of_context(context)
        .map(|(name, value, note)| (name.clone(), value::write(value, note, deserialize)))
        .collect();
    Value::Object(shown)
}

async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    Ok(view::answer(&Value::Array(running(&state, &tenant, &params).await?.iter().map(view).collect())))
}

async fn list_by_body(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Body(fields): Body,
) -> Result<Response, CamundaError> {
    Ok(view::answer(&Value::Array(running(&state, &tenant, &fields).await?.iter().map(view).collect())))
}

async fn count(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    Ok(view::answer(&json!({ "count": open(&state, &tenant, &params, COUNTED_MAX).await?.len() })))
}

/// Instances that have not ended, the newest first: a page of them.
async fn running(
    state: &AppState,
    tenant: &TenantId,
    fields: &Fields,
) -> Result<Vec<Instance>, CamundaError> {
    let bounded = |given: i64, most: usize| usize::try_from(given.max(0)).unwrap_or(most).min(most);
    let first = bounded(fields.long("firstResult")?.unwrap_or(0), COUNTED_MAX);
    let most = bounded(fields.long("maxResults")?.unwrap_or(i64::from(ROWS_MAX)), ROWS_MAX as usize);
    let open = open(state, tenant, fields, first.saturating_add(most).min(COUNTED_MAX)).await?;
    Ok(open.into_iter().skip(first).take(most).collect())
}

/// Instances that have not ended, the newest first, state by state as the index has them; up to so many of each.
async fn open(
    state: &AppState,
    tenant: &TenantId,
    fields: &Fields,
    most: usize,
) -> Result<Vec<Instance>, CamundaError> {
    let mut open = Vec::new();
    for status in InstanceStatus::ALL.into_iter().filter(|status| !status.ended()) {
        let filter = InstanceFilter {
            workflow_key: fields.text("processDefinitionKey")?,
            status: Some(status),
            business_key: fields.text("businessKey")?,
        };
        let (mut page, mut found) = (PageRequest { after: None, limit: ROWS_MAX }, 0);
        while found < most {
            let mut rows = state.node.store.instances(tenant, &filter, &page).await?;
            let more = rows.len() > ROWS_MAX as usize;
            rows.truncate((ROWS_MAX as usize).min(most - found));
            page.after = rows.last().map(|instance| instance.id.0);
            found += rows.len();
            open.append(&mut rows);
            if !more {
                break;
            }
        }
    }
    open.sort_by_key(|instance| std::cmp::Reverse(instance.id));
    Ok(open)
}

async fn show(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
) -> Result<Response, CamundaError> {
    let missing = || {
        CamundaError::new(404, Kind::InvalidRequest, format!("Process instance with id {id} does not exist"))
    };
    let found = match id.parse::<InstanceId>() {
        Ok(id) => state.node.store.instance(&tenant, id).await?,
        Err(_) => None,
    };
    let instance = found.filter(|instance| !instance.status.ended()).ok_or_else(missing)?;
    Ok(view::answer(&view(&instance)))
}

/// An instance by its id, or by that of a step's execution: clients mix them up.
async fn find(state: &AppState, tenant: &TenantId, id: &str) -> Result<Instance, CamundaError> {
    let missing = || {
        CamundaError::new(500, Kind::NullValue, format!("execution {id} doesn't exist: execution is null"))
    };
    let given: uuid::Uuid = id.parse().map_err(|_| missing())?;
    if let Some(instance) = state.node.store.instance(tenant, InstanceId(given)).await? {
        return Ok(instance);
    }
    let step = state.node.store.step_execution(tenant, StepExecutionId(given)).await?.ok_or_else(missing)?;
    state.node.store.instance(tenant, step.instance_id).await?.ok_or_else(missing)
}

async fn all(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    let instance = find(&state, &tenant, &id).await?;
    Ok(view::answer(&variables_of(&instance.context, deserialized(&params)?)))
}

async fn one(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names((id, name)): Names<(String, String)>,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    let instance = find(&state, &tenant, &id).await?;
    let (value, note) = variable(&instance.context, &name).ok_or_else(|| no_variable(&name))?;
    Ok(view::answer(&value::write(value, note, deserialized(&params)?)))
}

async fn data(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names((id, name)): Names<(String, String)>,
) -> Result<Response, CamundaError> {
    let instance = find(&state, &tenant, &id).await?;
    let (value, note) = variable(&instance.context, &name).ok_or_else(|| no_variable(&name))?;
    let Some((bytes, info)) = value::bytes(value, note) else {
        let message = format!("Value of variable with name {name} is not a binary value.");
        return Err(CamundaError::invalid(message));
    };
    let plain = |text: &str| text.chars().all(|c| !c.is_control());
    let mimetype = info["mimetype"].as_str().filter(|text| plain(text) && !text.is_empty());
    let kind = match (mimetype, info["encoding"].as_str().filter(|text| plain(text))) {
        (Some(mimetype), Some(encoding)) => format!("{mimetype}; charset={encoding}"),
        (Some(mimetype), None) => mimetype.to_owned(),
        (None, _) => "application/octet-stream".to_owned(),
    };
    let filename: String = info["filename"].as_str().unwrap_or("data").chars().map(safe).collect();
    let disposition = format!("attachment; filename=\"{filename}\"");
    let kind = if kind.is_ascii() { kind } else { "application/octet-stream".to_owned() };
    Ok(([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, disposition)], bytes).into_response())
}

/// What may stand between quotes in a header.
fn safe(c: char) -> char {
    if c.is_ascii_graphic() && c != '"' && c != '\\' || c == ' ' { c } else { '_' }
}

/// Sets and removes variables, as the Java client does.
async fn modify(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let instance = find(&state, &tenant, &id).await?;
    let mut patch = variables::patch(&fields, "modifications")?;
    patch.remove = fields.texts("deletions")?.unwrap_or_default();
    change(&state, &tenant, &instance, &patch).await
}

async fn set(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Names((id, name)): Names<(String, String)>,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let instance = find(&state, &tenant, &id).await?;
    let set = value::read(&name, &Value::Object(fields.0))?.into_iter().collect();
    change(&state, &tenant, &instance, &Patch { set, remove: Vec::new() }).await
}

async fn remove(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Names((id, name)): Names<(String, String)>,
) -> Result<StatusCode, CamundaError> {
    let instance = find(&state, &tenant, &id).await?;
    change(&state, &tenant, &instance, &Patch { set: Vec::new(), remove: vec![name] }).await
}

async fn change(
    state: &AppState,
    tenant: &TenantId,
    instance: &Instance,
    patch: &Patch,
) -> Result<StatusCode, CamundaError> {
    if instance.status.ended() {
        let id = instance.id;
        let message = format!(
            "Cannot modify variables for execution {id}: execution {id} doesn't exist: execution is null"
        );
        return Err(CamundaError::new(500, Kind::Rest, message));
    }
    state.node.engine.change_variables(tenant, instance.id, patch).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn variable<'a>(context: &'a Value, name: &str) -> Option<(&'a Value, Option<&'a Value>)> {
    let value = context.get(name).filter(|_| name != TYPES)?;
    Some((value, context.get(TYPES).and_then(|types| types.get(name))))
}

fn no_variable(name: &str) -> CamundaError {
    CamundaError::new(404, Kind::InvalidRequest, format!("Variable with name {name} does not exist"))
}

/// Unlike for workers, objects are shown as what they are unless somebody says otherwise.
fn deserialized(params: &Fields) -> Result<bool, CamundaError> {
    Ok(params.text("deserializeValues")?.is_none() || params.flag("deserializeValues")?)
}
