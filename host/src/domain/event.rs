//! What can happen to a step that waits, and the inbox row that keeps it until it is consumed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{EventId, InstanceId, StepExecutionId, TenantId, Timestamp};

/// An event for a step; the contract's `event` as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Event {
    /// A worker completed a task.
    TaskCompleted {
        /// The key that the plugin gave to the task.
        key: String,
        /// Who did it.
        worker: String,
        /// What it returned.
        output: Value,
    },
    /// A task failed for good.
    TaskFailed {
        /// The key that the plugin gave to the task.
        key: String,
        /// A stable code.
        code: String,
        /// For people.
        message: String,
        /// Attempts left.
        retries_left: u32,
        /// More.
        details: Value,
    },
    /// A timer is due.
    TimerFired {
        /// Its key.
        key: String,
    },
    /// A message matched a subscription.
    MessageReceived {
        /// The subscription's key.
        key: String,
        /// The message's name.
        name: String,
        /// The message's correlation.
        correlation: Option<String>,
        /// The body.
        payload: Value,
        /// Headers, in order.
        headers: Vec<(String, String)>,
    },
    /// An HTTP call was answered, or given up.
    HttpResponse {
        /// The call's key.
        key: String,
        /// The status, 0 without an answer.
        status: u16,
        /// Headers, in order.
        headers: Vec<(String, String)>,
        /// The body, as text.
        body: String,
    },
    /// The instance is being cancelled.
    CancelRequested {
        /// Why.
        reason: String,
    },
    /// Anything else.
    Custom {
        /// What it is.
        custom_kind: String,
        /// Its content.
        payload: Value,
    },
}

impl Event {
    /// The word for it.
    pub fn label(&self) -> &'static str {
        match self {
            Self::TaskCompleted { .. } => "task-completed",
            Self::TaskFailed { .. } => "task-failed",
            Self::TimerFired { .. } => "timer-fired",
            Self::MessageReceived { .. } => "message-received",
            Self::HttpResponse { .. } => "http-response",
            Self::CancelRequested { .. } => "cancel-requested",
            Self::Custom { .. } => "custom",
        }
    }
}

/// A row of `workflow_events`: an event that its step has not consumed yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InboxEvent {
    /// Its id; ids are in order of arrival.
    pub id: EventId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The instance it belongs to.
    pub instance_id: InstanceId,
    /// The step that will consume it.
    pub step_execution_id: StepExecutionId,
    /// The event, canonical JSON text.
    pub event: String,
    /// When it came.
    pub created_at: Timestamp,
}
