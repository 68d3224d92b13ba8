//! Timers as operators see them: list, show, fire now, move, withdraw.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stepwell_schedule::{Zone, after, moment};
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::{Id, Json, Query};
use super::view::PageView;
use crate::domain::timer::Timer;
use crate::domain::{TimerId, Timestamp};
use crate::engine::port::store::TimerFilter;

/// A timer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Timer)]
pub(super) struct TimerView {
    id: Uuid,
    workflow_instance_id: Uuid,
    step_id: String,
    /// The key that the step gave to it.
    key: String,
    /// DELAY, SCHEDULED, REMINDER, DEADLINE, or a step type's own word.
    timer_type: String,
    #[schema(value_type = String, format = DateTime)]
    trigger_at: Timestamp,
    /// Whether it has fired.
    triggered: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    triggered_at: Option<Timestamp>,
    reminder_config: Option<Value>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl From<Timer> for TimerView {
    fn from(timer: Timer) -> Self {
        Self {
            id: timer.id.0,
            workflow_instance_id: timer.workflow_instance_id.0,
            step_id: timer.step_id,
            // The host's own keys begin with a character that nobody wants to see.
            key: timer.key.trim_start_matches('\u{1}').to_owned(),
            timer_type: timer.timer_type,
            trigger_at: timer.trigger_at,
            triggered: timer.triggered,
            triggered_at: timer.triggered_at,
            reminder_config: timer.reminder_config,
            created_at: timer.created_at,
        }
    }
}

/// When a timer shall be due: one of the two.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewTime {
    /// A moment: ISO 8601 with a zone.
    #[schema(example = "2026-11-09T02:00:00Z")]
    trigger_at: Option<String>,
    /// From now: `2h`, `PT30M`.
    #[schema(example = "2h")]
    delay: Option<String>,
}

/// Lists timers, newest first; those that have not fired unless `fired=true`.
#[utoipa::path(get, path = "/api/v1/timers", tag = "timers",
    params(("fired" = Option<bool>, Query, description = "true shows those that have fired"),
        ("instance" = Option<Uuid>, Query, description = "Only this instance's"),
        ("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<TimerView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<TimerView>>, Problem> {
    let page = query.page(state.node.limits.page_rows_max)?;
    let filter = TimerFilter {
        instance_id: query.parsed("instance", "an instance's id, a UUID")?,
        triggered: query.parsed("fired", "true or false")?.unwrap_or(false),
    };
    let rows = state.node.store.timer_list(&tenant, &filter, &page).await?;
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.id.0, Into::into)))
}

/// Shows a timer.
#[utoipa::path(get, path = "/api/v1/timers/{id}", tag = "timers",
    params(("id" = Uuid, Path, description = "The timer")),
    responses((status = 200, body = TimerView), (status = 404, body = ProblemBody)))]
pub(super) async fn show(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<TimerId>,
) -> Result<JsonAnswer<TimerView>, Problem> {
    let timer = state.node.store.timer(&tenant, id).await?;
    timer
        .map(|timer| JsonAnswer(timer.into()))
        .ok_or_else(|| Problem::not_found("timer_not_found", format!("there is no timer {id}")))
}

/// Fires a timer before its time.
#[utoipa::path(post, path = "/api/v1/timers/{id}/fire", tag = "timers",
    params(("id" = Uuid, Path, description = "The timer")),
    responses((status = 204), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn fire(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<TimerId>,
) -> Result<StatusCode, Problem> {
    state.node.engine.fire_timer(&tenant, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Moves a timer to another time. One that has passed fires it at once.
#[utoipa::path(post, path = "/api/v1/timers/{id}/reschedule", tag = "timers",
    params(("id" = Uuid, Path, description = "The timer")), request_body = NewTime,
    responses((status = 200, body = TimerView), (status = 400, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn reschedule(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<TimerId>,
    Json(wanted): Json<NewTime>,
) -> Result<JsonAnswer<TimerView>, Problem> {
    let now_ms = state.node.clock.now().millis();
    let at_ms = match (&wanted.trigger_at, &wanted.delay) {
        (Some(text), None) => moment(text, now_ms, None).map_err(|why| Problem::field("triggerAt", why))?,
        (None, Some(text)) => after(text, now_ms, &Zone::UTC).map_err(|why| Problem::field("delay", why))?,
        _ => return Err(Problem::field("triggerAt", "or `delay` is needed, and only one of them")),
    };
    let timer = state.node.engine.move_timer(&tenant, id, Timestamp::from_millis(at_ms)).await?;
    Ok(JsonAnswer(timer.into()))
}

/// Withdraws a timer. A step of type TIMER fails with `timer_cancelled`; another waits on for what else it waits for.
#[utoipa::path(post, path = "/api/v1/timers/{id}/cancel", tag = "timers",
    params(("id" = Uuid, Path, description = "The timer")),
    responses((status = 204), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn cancel(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<TimerId>,
) -> Result<StatusCode, Problem> {
    state.node.engine.cancel_timer(&tenant, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
