//! Notes to people as operators see them: each try, and what became of it.

use axum::Json as JsonAnswer;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::Query;
use super::view::PageView;
use crate::domain::Timestamp;
use crate::domain::reminder::Reminder;
use crate::engine::port::outgoing::ReminderFilter;

/// One try of one note.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Reminder)]
pub(super) struct ReminderView {
    id: Uuid,
    /// The timer that caused it, if one did.
    timer_id: Option<Uuid>,
    workflow_instance_id: Uuid,
    /// Empty for the deadline of an instance.
    step_id: String,
    /// The key that the step gave to the note: tries of one note have the same.
    key: String,
    /// Which try it was, from 1; 0 if it could not even be tried.
    attempt: i32,
    sender: Option<String>,
    /// EMAIL, SLACK or WEBHOOK.
    channel: String,
    /// Whom the try was for.
    recipients: Vec<String>,
    message: String,
    #[schema(value_type = String, format = DateTime)]
    sent_at: Timestamp,
    /// SENT or FAILED.
    status: &'static str,
    /// Why it failed.
    error_message: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl From<Reminder> for ReminderView {
    fn from(reminder: Reminder) -> Self {
        Self {
            id: reminder.id,
            timer_id: reminder.timer_id.map(|id| id.0),
            workflow_instance_id: reminder.workflow_instance_id.0,
            step_id: reminder.step_id,
            key: reminder.key,
            attempt: reminder.attempt,
            sender: reminder.sender,
            channel: reminder.channel,
            recipients: reminder.recipients,
            message: reminder.message,
            sent_at: reminder.sent_at,
            status: reminder.status.label(),
            error_message: reminder.error_message,
            created_at: reminder.created_at,
        }
    }
}

/// Lists tries of notes, newest first.
#[utoipa::path(get, path = "/api/v1/reminders", tag = "reminders",
    params(("instance" = Option<Uuid>, Query, description = "Only this instance's"),
        ("status" = Option<String>, Query, description = "Only SENT or only FAILED"),
        ("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<ReminderView>), (status = 400, body = ProblemBody)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<ReminderView>>, Problem> {
    let page = query.page(state.node.limits.page_rows_max)?;
    let status = query.text("status").map(|status| status.to_ascii_uppercase());
    if status.as_deref().is_some_and(|status| !matches!(status, "SENT" | "FAILED")) {
        return Err(Problem::field("status", "is SENT or FAILED"));
    }
    let instance_id = query.parsed("instance", "an instance's id, a UUID")?;
    let filter = ReminderFilter { instance_id, status };
    let rows = state.node.store.reminders(&tenant, &filter, &page).await?;
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.id, Into::into)))
}
