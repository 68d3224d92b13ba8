//! Variables of process instances, and of executions, which are the same to workers that download files.

use axum::Router;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde_json::Value;

use super::body::{Body, Fields, Names, Params};
use super::caller::{Operator, Worker};
use super::error::{CamundaError, Kind};
use super::instances::variables_of;
use super::{value, variables, view};
use crate::api::AppState;
use crate::domain::instance::Instance;
use crate::domain::variable::{Patch, TYPES};
use crate::domain::{InstanceId, StepExecutionId, TenantId};

/// What is of no other type.
const OCTETS: &str = "application/octet-stream";

/// The routes.
pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/process-instance/{id}/variables", get(all).post(modify))
        .route("/process-instance/{id}/variables/{name}", get(one).put(set).delete(remove))
        .route("/process-instance/{id}/variables/{name}/data", get(data))
        .route("/execution/{id}/localVariables", get(all).post(modify))
        .route("/execution/{id}/localVariables/{name}", get(one).put(set).delete(remove))
        .route("/execution/{id}/localVariables/{name}/data", get(data))
}

/// What Camunda calls what the variables belong to.
struct Kinship(&'static str);

impl FromRequestParts<AppState> for Kinship {
    type Rejection = CamundaError;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, CamundaError> {
        let execution = parts.uri.path().starts_with("/execution/");
        Ok(Self(if execution { "execution" } else { "process instance" }))
    }
}

/// An instance by its id, or by that of a step's execution: clients mix them up.
async fn find(state: &AppState, tenant: &TenantId, id: &str) -> Result<Instance, CamundaError> {
    let given: uuid::Uuid = id.parse().map_err(|_| gone(id))?;
    if let Some(instance) = state.node.store.instance(tenant, InstanceId(given)).await? {
        return Ok(instance);
    }
    let step =
        state.node.store.step_execution(tenant, StepExecutionId(given)).await?.ok_or_else(|| gone(id))?;
    state.node.store.instance(tenant, step.instance_id).await?.ok_or_else(|| gone(id))
}

/// The same; if it is not there, the error says what was to be done with it.
async fn find_for(
    state: &AppState,
    tenant: &TenantId,
    id: &str,
    deed: impl Fn() -> String,
) -> Result<Instance, CamundaError> {
    find(state, tenant, id).await.map_err(|error| error.of_deed(&deed()))
}

/// Camunda answers 500.
fn gone(id: &str) -> CamundaError {
    CamundaError::new(500, Kind::NullValue, format!("execution {id} doesn't exist: execution is null"))
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
    Kinship(whose): Kinship,
    Names((id, name)): Names<(String, String)>,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    let instance = find_for(&state, &tenant, &id, || format!("get {whose} variable {name}")).await?;
    let (value, note) = variable(&instance.context, &name).ok_or_else(|| no_variable(whose, &name))?;
    Ok(view::answer(&value::write(value, note, deserialized(&params)?)))
}

async fn data(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Kinship(whose): Kinship,
    Names((id, name)): Names<(String, String)>,
) -> Result<Response, CamundaError> {
    let instance = find_for(&state, &tenant, &id, || format!("get {whose} variable {name}")).await?;
    let (value, note) = variable(&instance.context, &name).ok_or_else(|| no_variable(whose, &name))?;
    // The id that is named is not the variable's: so it is in Camunda.
    let Some((bytes, info)) = value::bytes(value, note) else {
        return Err(CamundaError::invalid(format!("Value of variable with id {id} is not a binary value.")));
    };
    let Some(filename) = info["filename"].as_str() else {
        return Ok(([(CONTENT_TYPE, OCTETS)], bytes).into_response());
    };
    let plain = |text: &&str| text.chars().all(|c| c.is_ascii() && !c.is_control());
    let mut kind =
        info["mimetype"].as_str().filter(plain).filter(|t| !t.is_empty()).unwrap_or(OCTETS).to_owned();
    if let Some(encoding) = info["encoding"].as_str().filter(plain) {
        kind.push_str(&format!("; charset={encoding}"));
    }
    let (quoted, encoded): (String, String) = (filename.chars().map(safe).collect(), percent(filename));
    let disposition = format!("attachment; filename=\"{quoted}\"; filename*=UTF-8''{encoded}");
    Ok(([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, disposition)], bytes).into_response())
}

/// What may stand between quotes in a header.
fn safe(c: char) -> char {
    if c.is_ascii_graphic() && c != '"' && c != '\\' || c == ' ' { c } else { '_' }
}

/// Text as it may stand after `filename*=`.
fn percent(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

/// Sets and removes variables, as the Java client does.
async fn modify(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Kinship(whose): Kinship,
    Names(id): Names<String>,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let wrong = |error: CamundaError| error.within(&format!("Cannot modify variables for {whose}"));
    let mut patch = variables::patch(&fields, "modifications").map_err(wrong)?;
    patch.remove = fields.texts("deletions")?.unwrap_or_default();
    change(&state, &tenant, &id, &patch, || format!("modify variables for {whose} {id}")).await
}

async fn set(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Kinship(whose): Kinship,
    Names((id, name)): Names<(String, String)>,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let wrong = |error: CamundaError| error.within(&format!("Cannot put {whose} variable {name}"));
    let set = value::read(&name, &Value::Object(fields.0)).map_err(wrong)?.into_iter().collect();
    let patch = Patch { set, remove: Vec::new() };
    change(&state, &tenant, &id, &patch, || format!("put {whose} variable {name}")).await
}

async fn remove(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Kinship(whose): Kinship,
    Names((id, name)): Names<(String, String)>,
) -> Result<StatusCode, CamundaError> {
    let patch = Patch { set: Vec::new(), remove: vec![name.clone()] };
    change(&state, &tenant, &id, &patch, || format!("delete {whose} variable {name}")).await
}

async fn change(
    state: &AppState,
    tenant: &TenantId,
    id: &str,
    patch: &Patch,
    deed: impl Fn() -> String,
) -> Result<StatusCode, CamundaError> {
    let instance = find_for(state, tenant, id, &deed).await?;
    if instance.status.ended() {
        return Err(gone(id).of_deed(&deed()));
    }
    state.node.engine.change_variables(tenant, instance.id, patch).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn variable<'a>(context: &'a Value, name: &str) -> Option<(&'a Value, Option<&'a Value>)> {
    let value = context.get(name).filter(|_| name != TYPES)?;
    Some((value, context.get(TYPES).and_then(|types| types.get(name))))
}

fn no_variable(whose: &str, name: &str) -> CamundaError {
    CamundaError::new(404, Kind::InvalidRequest, format!("{whose} variable with name {name} does not exist"))
}

/// Unlike for workers, objects are shown as what they are unless somebody says otherwise.
fn deserialized(params: &Fields) -> Result<bool, CamundaError> {
    Ok(params.text("deserializeValues")?.is_none() || params.flag("deserializeValues")?)
}
