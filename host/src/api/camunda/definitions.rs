//! Process definitions: the few reads that workers' frameworks do at start, and starting an instance.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::body::{Body, Fields, Names, Params};
use super::caller::{Operator, Worker};
use super::error::{CamundaError, Kind};
use super::view::{self, definition_id, tenant_id};
use super::{instances, variables};
use crate::api::AppState;
use crate::domain::TenantId;
use crate::domain::definition::DefinitionRow;
use crate::engine::{Error, StartRequest};

/// Rows of one answer.
const ROWS_MAX: u32 = 10_000;

/// The routes.
pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/process-definition", get(list))
        .route("/process-definition/count", get(count))
        .route("/process-definition/{id}", get(show))
        .route("/process-definition/{id}/start", post(start))
        .route("/process-definition/key/{key}", get(show_newest))
        .route("/process-definition/key/{key}/start", post(start_newest))
        .route("/process-definition/key/{key}/tenant-id/{tenant}", get(show_of_tenant))
        .route("/process-definition/key/{key}/tenant-id/{tenant}/start", post(start_of_tenant))
}

fn view(row: &DefinitionRow) -> Value {
    json!({
        "id": definition_id(&row.key, row.version),
        "key": row.key,
        "category": null,
        "description": row.document.get("description"),
        "name": row.name,
        "version": row.version,
        "resource": format!("{}.yaml", row.key),
        "deploymentId": definition_id(&row.key, row.version),
        "diagram": null,
        "suspended": false,
        "tenantId": tenant_id(&row.tenant),
        "versionTag": row.document.get("versionTag"),
        "historyTimeToLive": null,
        "startableInTasklist": true,
    })
}

async fn rows(
    state: &AppState,
    tenant: &TenantId,
    params: &Fields,
) -> Result<Vec<DefinitionRow>, CamundaError> {
    let mut rows = match params.text("key")? {
        Some(key) => state.node.store.definition(tenant, &key, None).await?.into_iter().collect(),
        None => state.node.store.definitions(tenant, None, ROWS_MAX).await?,
    };
    if let Some(name) = params.text("name")? {
        rows.retain(|row: &DefinitionRow| row.name.as_ref() == Some(&name));
    }
    if let Some(tag) = params.text("versionTag")? {
        rows.retain(|row: &DefinitionRow| {
            row.document.get("versionTag") == Some(&Value::String(tag.clone()))
        });
    }
    Ok(rows)
}

/// The newest version of each.
async fn list(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    let rows = rows(&state, &tenant, &params).await?;
    let at = |name: &str, otherwise: usize| -> Result<usize, CamundaError> {
        Ok(params.long(name)?.map_or(otherwise, |number| usize::try_from(number).unwrap_or(0)))
    };
    let (first, most) = (at("firstResult", 0)?, at("maxResults", usize::MAX)?);
    Ok(view::answer(&Value::Array(rows.iter().skip(first).take(most).map(view).collect())))
}

async fn count(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    Ok(view::answer(&json!({ "count": rows(&state, &tenant, &params).await?.len() })))
}

async fn show(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
) -> Result<Response, CamundaError> {
    Ok(view::answer(&view(&by_id(&state, &tenant, &id).await?)))
}

async fn show_newest(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(key): Names<String>,
) -> Result<Response, CamundaError> {
    Ok(view::answer(&view(&newest(&state, &tenant, &key, None).await?)))
}

async fn show_of_tenant(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names((key, wanted)): Names<(String, String)>,
) -> Result<Response, CamundaError> {
    Ok(view::answer(&view(&newest(&state, &tenant, &key, Some(&wanted)).await?)))
}

async fn start(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Names(id): Names<String>,
    Body(fields): Body,
) -> Result<Response, CamundaError> {
    let row = by_id(&state, &tenant, &id).await?;
    begin(&state, &row, Some(row.version), &fields).await
}

async fn start_newest(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Names(key): Names<String>,
    Body(fields): Body,
) -> Result<Response, CamundaError> {
    let row = newest(&state, &tenant, &key, None).await?;
    begin(&state, &row, None, &fields).await
}

async fn start_of_tenant(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Names((key, wanted)): Names<(String, String)>,
    Body(fields): Body,
) -> Result<Response, CamundaError> {
    let row = newest(&state, &tenant, &key, Some(&wanted)).await?;
    begin(&state, &row, None, &fields).await
}

async fn begin(
    state: &AppState,
    row: &DefinitionRow,
    version: Option<i32>,
    fields: &Fields,
) -> Result<Response, CamundaError> {
    let patch = variables::patch(fields, "variables")?;
    let request = StartRequest {
        tenant: row.tenant.clone(),
        workflow_key: row.key.clone(),
        version,
        context: patch.applied(&json!({})),
        business_key: fields.text("businessKey")?.filter(|key| !key.is_empty()),
        idempotency_key: None,
        traceparent: None,
    };
    let started = state.node.engine.start(request).await.map_err(|error| match error {
        Error::Store(_) | Error::Busy { .. } | Error::TooLarge { .. } => CamundaError::from(error),
        error => {
            let message = format!("Cannot instantiate process definition {}: {error}", row.key);
            CamundaError::new(400, Kind::Rest, message)
        }
    })?;
    let instance = state.node.store.instance(&row.tenant, started.id).await?;
    let instance = instance.ok_or_else(|| CamundaError::engine("the instance has ended and was removed"))?;
    let mut shown = instances::view(&instance);
    if fields.flag("withVariablesInReturn")? {
        shown["variables"] = instances::variables_of(&instance.context, true);
    }
    Ok(view::answer(&shown))
}

async fn by_id(state: &AppState, tenant: &TenantId, id: &str) -> Result<DefinitionRow, CamundaError> {
    let missing =
        || CamundaError::new(404, Kind::InvalidRequest, format!("No matching definition with id {id}"));
    let (key, version) = id.rsplit_once(':').ok_or_else(missing)?;
    let version: i32 = version.parse().map_err(|_| missing())?;
    state.node.store.definition(tenant, key, Some(version)).await?.ok_or_else(missing)
}

async fn newest(
    state: &AppState,
    tenant: &TenantId,
    key: &str,
    wanted: Option<&str>,
) -> Result<DefinitionRow, CamundaError> {
    let missing = || {
        let whose = wanted.map_or_else(|| "no tenant-id".to_owned(), |wanted| format!("tenant-id: {wanted}"));
        let message = format!("No matching process definition with key: {key} and {whose}");
        CamundaError::new(404, Kind::Rest, message)
    };
    if wanted.is_some_and(|wanted| wanted != tenant.as_str()) {
        return Err(missing());
    }
    state.node.store.definition(tenant, key, None).await?.ok_or_else(missing)
}
