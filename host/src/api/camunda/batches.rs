//! Batches: `retries-async` makes one; it is there while it runs, and in the history from its beginning.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::body::{Body, Names, Params};
use super::caller::{Operator, Worker};
use super::error::{CamundaError, Kind};
use super::retries::selected;
use super::view::{answer, date, date_or_null, tenant_id};
use crate::api::AppState;
use crate::domain::TenantId;
use crate::domain::batch::Batch;

/// The routes.
pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/external-task/retries-async", post(begin))
        .route("/batch", get(list))
        .route("/batch/count", get(count))
        .route("/batch/statistics", get(statistics))
        .route("/batch/{id}", get(show))
        .route("/history/batch", get(history))
        .route("/history/batch/{id}", get(show_history))
}

/// Sets the attempts of many tasks in the background.
async fn begin(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Body(fields): Body,
) -> Result<Response, CamundaError> {
    let (retries, ids) = selected(&state, &tenant, &fields).await?;
    let batch = state.node.engine.begin_batch(&tenant, retries, ids.into_iter().collect()).await?;
    Ok(answer(&running(&batch)))
}

/// A batch that runs. Every task is a job of its own.
fn running(batch: &Batch) -> Value {
    json!({
        "id": batch.id,
        "type": batch.kind,
        "totalJobs": batch.task_ids.len(),
        "jobsCreated": batch.task_ids.len(),
        "batchJobsPerSeed": 100,
        "invocationsPerBatchJob": 1,
        "seedJobDefinitionId": batch.id,
        "monitorJobDefinitionId": batch.id,
        "batchJobDefinitionId": batch.id,
        "suspended": false,
        "tenantId": tenant_id(&batch.tenant),
        "createUserId": null,
        "startTime": date(batch.created_at),
        "executionStartTime": date(batch.created_at),
    })
}

fn ended(batch: &Batch) -> Value {
    let mut shown = running(batch);
    if let Some(members) = shown.as_object_mut() {
        members.remove("jobsCreated");
        members.remove("suspended");
    }
    shown["endTime"] = date_or_null(batch.finished_at);
    shown["removalTime"] = Value::Null;
    shown
}

async fn batches(state: &AppState, tenant: &TenantId, id: Option<&str>) -> Result<Vec<Batch>, CamundaError> {
    let id = match id {
        None => None,
        Some(id) => match id.parse() {
            Ok(id) => Some(id),
            Err(_) => return Ok(Vec::new()),
        },
    };
    Ok(state.node.store.batches(tenant, id).await?)
}

/// Those that run.
async fn open(state: &AppState, tenant: &TenantId, params: &Params) -> Result<Vec<Batch>, CamundaError> {
    let id = params.0.text("batchId")?;
    let mut open = batches(state, tenant, id.as_deref()).await?;
    open.retain(|batch| batch.finished_at.is_none());
    Ok(open)
}

async fn list(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    params: Params,
) -> Result<Response, CamundaError> {
    Ok(answer(&Value::Array(open(&state, &tenant, &params).await?.iter().map(running).collect())))
}

async fn count(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    params: Params,
) -> Result<Response, CamundaError> {
    Ok(answer(&json!({ "count": open(&state, &tenant, &params).await?.len() })))
}

async fn statistics(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    params: Params,
) -> Result<Response, CamundaError> {
    let figures = |batch: &Batch| {
        let mut shown = running(batch);
        let total = i32::try_from(batch.task_ids.len()).unwrap_or(i32::MAX);
        shown["remainingJobs"] = (total - batch.done).into();
        shown["completedJobs"] = (batch.done - batch.failed).into();
        shown["failedJobs"] = batch.failed.into();
        shown
    };
    Ok(answer(&Value::Array(open(&state, &tenant, &params).await?.iter().map(figures).collect())))
}

async fn show(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
) -> Result<Response, CamundaError> {
    let found = batches(&state, &tenant, Some(&id)).await?.pop();
    let found = found.filter(|batch| batch.finished_at.is_none()).ok_or_else(|| {
        CamundaError::new(404, Kind::InvalidRequest, format!("Batch with id '{id}' does not exist"))
    })?;
    Ok(answer(&running(&found)))
}

async fn history(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    let id = params.text("batchId")?;
    let completed = params.text("completed")?;
    let mut all = batches(&state, &tenant, id.as_deref()).await?;
    if let Some(completed) = completed {
        all.retain(|batch| batch.finished_at.is_some() == (completed == "true"));
    }
    Ok(answer(&Value::Array(all.iter().map(ended).collect())))
}

async fn show_history(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
) -> Result<Response, CamundaError> {
    let found = batches(&state, &tenant, Some(&id)).await?.pop().ok_or_else(|| {
        CamundaError::new(404, Kind::InvalidRequest, format!("Historic batch with id '{id}' does not exist"))
    })?;
    Ok(answer(&ended(&found)))
}
