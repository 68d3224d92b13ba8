//! An instance: one run of a workflow.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::transition::Failure;
use super::turn::Turns;
use super::{InstanceId, TenantId, Timestamp};

/// Where an instance stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InstanceStatus {
    /// Something is being decided.
    Running,
    /// All open steps wait for something outside.
    Waiting,
    /// All steps ended well.
    Completed,
    /// A step failed and nothing caught it.
    Failed,
    /// Stopped by an operator.
    Cancelled,
    /// Held by an operator.
    Paused,
    /// At least one step has an open incident.
    Incident,
}

impl InstanceStatus {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Running,
        Self::Waiting,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::Paused,
        Self::Incident,
    ];

    /// Whether nothing can happen any more.
    pub fn ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Paused => "paused",
            Self::Incident => "incident",
        }
    }
}

/// A row of `workflow_instances`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Instance {
    /// Its id; S2's `execution_id`.
    pub id: InstanceId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The workflow's key.
    pub workflow_key: String,
    /// The workflow's version; an instance stays on it.
    pub workflow_version: i32,
    /// What users call it.
    pub business_key: Option<String>,
    /// Where it stands.
    pub status: InstanceStatus,
    /// Raised by every transition; a writer that saw an older one loses.
    pub version: i64,
    /// Steps that have begun and not ended.
    pub open_steps: i32,
    /// Open incidents.
    pub open_incidents: i32,
    /// Shared data: what it was started with, and mapped outputs.
    pub context: Value,
    /// What it was started with; never changes.
    pub trigger: Value,
    /// Why it failed or was cancelled.
    pub error: Option<Failure>,
    /// The W3C trace context of the call that started it.
    pub traceparent: Option<String>,
    /// When it was started.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Where the turns of its next tasks are.
    pub turns: Option<Turns>,
}
