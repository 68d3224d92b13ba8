//! Schedules as operators see them: list, show, pause, resume.

use axum::Json as JsonAnswer;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::{Id, Query};
use super::view::PageView;
use crate::domain::schedule::Schedule;
use crate::domain::trigger::{CronTrigger, Misfire, Overlap, Trigger};
use crate::domain::{ScheduleId, Timestamp};
use crate::engine::definition;

/// Run times that are shown ahead.
const RUNS_SHOWN: usize = 5;

/// A cron trigger of a workflow, and where it stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Schedule)]
pub(super) struct ScheduleView {
    id: Uuid,
    workflow_key: String,
    /// The workflow's version that it comes from.
    workflow_version: i32,
    /// The trigger's id within the workflow.
    trigger_id: String,
    cron: String,
    time_zone: String,
    /// fire_once, skip or fire_all.
    #[schema(value_type = String)]
    misfire: Misfire,
    /// allow, skip or queue.
    #[schema(value_type = String)]
    overlap: Overlap,
    /// The context of the instances.
    #[schema(value_type = Object)]
    context: Value,
    paused: bool,
    /// The next due time; null if there is none any more. While it is paused, the one that it was paused before.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_at: Option<Timestamp>,
    /// The next run times, if nothing stops it.
    #[schema(value_type = Vec<String>)]
    upcoming: Vec<Timestamp>,
    /// The due time of the last start.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_at: Option<Timestamp>,
    last_instance_id: Option<Uuid>,
    /// Why the last due time started nothing.
    last_error: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl ScheduleView {
    fn of(row: Schedule, now: Timestamp) -> Self {
        let cron = CronTrigger {
            cron: row.cron,
            time_zone: row.time_zone,
            misfire: row.misfire,
            overlap: row.overlap,
            context: row.context,
        };
        Self {
            id: row.id.0,
            workflow_key: row.workflow_key,
            workflow_version: row.workflow_version,
            trigger_id: row.trigger_id,
            upcoming: definition::runs(&cron, now, RUNS_SHOWN).unwrap_or_default(),
            cron: cron.cron,
            time_zone: cron.time_zone,
            misfire: cron.misfire,
            overlap: cron.overlap,
            context: cron.context,
            paused: row.paused,
            next_at: row.next_at,
            last_at: row.last_at,
            last_instance_id: row.last_instance_id.map(|id| id.0),
            last_error: row.last_error,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// A trigger of a document, with what follows from it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Trigger)]
pub(super) struct TriggerView {
    id: String,
    cron: String,
    time_zone: String,
    /// The next five run times.
    #[schema(value_type = Vec<String>)]
    upcoming: Vec<Timestamp>,
}

impl TriggerView {
    /// What a trigger will do from now on, if it waits for the clock.
    pub(super) fn of(trigger: &Trigger, now: Timestamp) -> Option<Self> {
        let cron = trigger.cron()?;
        let upcoming = definition::runs(cron, now, RUNS_SHOWN).unwrap_or_default();
        let (id, cron, time_zone) = (trigger.id.clone(), cron.cron.clone(), cron.time_zone.clone());
        Some(Self { id, cron, time_zone, upcoming })
    }
}

/// Lists schedules, newest first: one for each cron trigger of each workflow's newest version.
#[utoipa::path(get, path = "/api/v1/schedules", tag = "schedules",
    params(("workflow" = Option<String>, Query, description = "Only of this workflow, by its key"),
        ("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<ScheduleView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<ScheduleView>>, Problem> {
    let page = query.page(state.node.limits.page_rows_max)?;
    let workflow = query.text("workflow");
    let rows = state.node.store.schedules(&tenant, workflow.as_deref(), &page).await?;
    let now = state.node.clock.now();
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.id.0, |row| ScheduleView::of(row, now))))
}

/// Shows a schedule.
#[utoipa::path(get, path = "/api/v1/schedules/{id}", tag = "schedules",
    params(("id" = Uuid, Path, description = "The schedule")),
    responses((status = 200, body = ScheduleView), (status = 404, body = ProblemBody)))]
pub(super) async fn show(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<ScheduleId>,
) -> Result<JsonAnswer<ScheduleView>, Problem> {
    let row = state.node.store.schedule(&tenant, id).await?;
    let now = state.node.clock.now();
    row.map(|row| JsonAnswer(ScheduleView::of(row, now)))
        .ok_or_else(|| Problem::not_found("schedule_not_found", format!("there is no schedule {id}")))
}

/// Pauses a schedule: nothing is started until it is resumed, through deployments and restarts.
#[utoipa::path(post, path = "/api/v1/schedules/{id}/pause", tag = "schedules",
    params(("id" = Uuid, Path, description = "The schedule")),
    responses((status = 200, body = ScheduleView), (status = 404, body = ProblemBody)))]
pub(super) async fn pause(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<ScheduleId>,
) -> Result<JsonAnswer<ScheduleView>, Problem> {
    let row = state.node.engine.pause_schedule(&tenant, id).await?;
    Ok(JsonAnswer(ScheduleView::of(row, state.node.clock.now())))
}

/// Resumes a schedule with its next due time from now on.
#[utoipa::path(post, path = "/api/v1/schedules/{id}/resume", tag = "schedules",
    params(("id" = Uuid, Path, description = "The schedule")),
    responses((status = 200, body = ScheduleView), (status = 404, body = ProblemBody)))]
pub(super) async fn resume(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<ScheduleId>,
) -> Result<JsonAnswer<ScheduleView>, Problem> {
    let row = state.node.engine.resume_schedule(&tenant, id).await?;
    Ok(JsonAnswer(ScheduleView::of(row, state.node.clock.now())))
}
