//! Tries of notes to people, as they are kept.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{InstanceId, StepExecutionId, TenantId, TimerId, Timestamp};

/// A row of `workflow_timer_reminders`: one try of one note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    /// Its id; ids are in order of their making.
    pub id: Uuid,
    /// Whose it is.
    pub tenant: TenantId,
    /// The timer that caused it, if one did.
    pub timer_id: Option<TimerId>,
    /// The instance that sends it.
    pub workflow_instance_id: InstanceId,
    /// The step that sends it.
    pub step_execution_id: StepExecutionId,
    /// The step's id within its workflow; empty for the deadline of an instance.
    pub step_id: String,
    /// The key that the plugin gave to the note.
    pub key: String,
    /// Which try it was, from 1; 0 if it could not even be tried.
    pub attempt: i32,
    /// The sender, if there was one.
    pub sender: Option<String>,
    /// `EMAIL`, `SLACK` or `WEBHOOK`.
    pub channel: String,
    /// Whom the try was for; secrets in it are named, not written.
    pub recipients: Vec<String>,
    /// The text.
    pub message: String,
    /// When it was tried.
    pub sent_at: Timestamp,
    /// `SENT` or `FAILED`.
    pub status: ReminderStatus,
    /// Why it failed.
    pub error_message: Option<String>,
    /// When the row was written.
    pub created_at: Timestamp,
}

/// What became of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ReminderStatus {
    /// It was taken.
    Sent,
    /// It was not.
    Failed,
}

impl ReminderStatus {
    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Sent => "SENT",
            Self::Failed => "FAILED",
        }
    }
}
