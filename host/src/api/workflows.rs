//! Workflow definitions: deploy, list, show.

use axum::Json as JsonAnswer;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::{Name, Query, Text, unreadable_path};
use super::schedules::TriggerView;
use super::view::PageView;
use crate::domain::Timestamp;
use crate::domain::definition::DefinitionRow;

/// One version of a workflow.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Workflow)]
pub(super) struct WorkflowView {
    key: String,
    /// From 1; a version never changes.
    version: i32,
    name: Option<String>,
    /// SHA-256 of the document.
    digest: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// The text as it was deployed.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// The document as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    document: Option<Value>,
    /// In the answer to a deployment: what starts it by the clock, with the next five run times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    triggers: Vec<TriggerView>,
}

impl WorkflowView {
    fn brief(row: DefinitionRow) -> Self {
        Self { source: None, document: None, ..Self::whole(row) }
    }

    fn whole(row: DefinitionRow) -> Self {
        Self {
            key: row.key,
            version: row.version,
            name: row.name,
            digest: row.digest.to_string(),
            created_at: row.created_at,
            source: Some(row.source),
            document: Some(row.document),
            triggers: Vec::new(),
        }
    }
}

/// Deploys a workflow, as YAML or JSON. The same document again makes no new version.
#[utoipa::path(post, path = "/api/v1/workflows", tag = "workflows",
    params(("key" = Option<String>, Query, description = "The workflow's key, if the document has none"),
        ("dryRun" = Option<bool>, Query, description = "true checks the document and writes nothing")),
    request_body(content = String, content_type = "application/yaml"),
    responses((status = 201, body = WorkflowView, description = "A new version"),
        (status = 200, body = WorkflowView,
            description = "The newest version is this document, or nothing was to be written"),
        (status = 400, body = ProblemBody, description = "Each mistake with its line and field")))]
pub(super) async fn deploy(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
    Text(source): Text,
) -> Result<(StatusCode, JsonAnswer<WorkflowView>), Problem> {
    let dry_run = query.parsed("dryRun", "true or false")?.unwrap_or(false);
    let (engine, key) = (&state.node.engine, query.text("key"));
    let deployed = match dry_run {
        true => engine.check_deployment(&tenant, key.as_deref(), &source).await?,
        false => engine.deploy(&tenant, key.as_deref(), &source).await?,
    };
    let status = if deployed.created && !dry_run { StatusCode::CREATED } else { StatusCode::OK };
    let now = state.node.clock.now();
    let triggers = deployed.triggers.iter().filter_map(|trigger| TriggerView::of(trigger, now)).collect();
    Ok((status, JsonAnswer(WorkflowView { triggers, ..WorkflowView::brief(deployed.definition) })))
}

/// Lists the newest version of each workflow, by key.
#[utoipa::path(get, path = "/api/v1/workflows", tag = "workflows",
    params(("after" = Option<String>, Query, description = "The key after which to go on"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<WorkflowView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<WorkflowView>>, Problem> {
    let limit = query.limit(state.node.limits.page_rows_max)?;
    let mut rows = state.node.store.definitions(&tenant, query.text("after").as_deref(), limit + 1).await?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next = rows.last().filter(|_| more).map(|row| row.key.clone());
    Ok(JsonAnswer(PageView { items: rows.into_iter().map(WorkflowView::brief).collect(), next }))
}

/// Shows a workflow: its newest version, or the one asked for.
#[utoipa::path(get, path = "/api/v1/workflows/{key}", tag = "workflows",
    params(("key" = String, Path, description = "The workflow's key"),
        ("version" = Option<i32>, Query, description = "The newest if absent")),
    responses((status = 200, body = WorkflowView), (status = 404, body = ProblemBody)))]
pub(super) async fn show(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Name(key): Name,
    query: Query,
) -> Result<JsonAnswer<WorkflowView>, Problem> {
    let version = query.parsed("version", "a whole number from 1")?;
    let row = state.node.store.definition(&tenant, &key, version).await?;
    row.map(WorkflowView::whole).map(JsonAnswer).ok_or_else(|| not_found(&key, version))
}

/// Shows one version of a workflow.
#[utoipa::path(get, path = "/api/v1/workflows/{key}/versions/{version}", tag = "workflows",
    params(("key" = String, Path, description = "The workflow's key"),
        ("version" = i32, Path, description = "The version, from 1")),
    responses((status = 200, body = WorkflowView), (status = 404, body = ProblemBody)))]
pub(super) async fn show_version(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<JsonAnswer<WorkflowView>, Problem> {
    let Path((key, version)) = path.map_err(|error| unreadable_path(&error))?;
    let number: i32 = version.parse().map_err(|_| Problem::field("version", "is not a whole number"))?;
    if key.contains('\0') {
        return Err(not_found("", Some(number)));
    }
    let row = state.node.store.definition(&tenant, &key, Some(number)).await?;
    row.map(WorkflowView::whole).map(JsonAnswer).ok_or_else(|| not_found(&key, Some(number)))
}

fn not_found(key: &str, version: Option<i32>) -> Problem {
    let detail = match version {
        Some(version) => format!("the workflow `{key}` has no version {version}"),
        None => format!("there is no workflow `{key}`; deploy it first"),
    };
    Problem::not_found("workflow_not_found", detail)
}
