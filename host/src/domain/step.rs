//! A step execution: one attempt at one step of an instance.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::transition::Failure;
use super::{Digest, InstanceId, StepExecutionId, TenantId, Timestamp};

/// Where a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// Not all of its predecessors have ended.
    Pending,
    /// Its plugin is being asked.
    Running,
    /// It waits for an event.
    Waiting,
    /// It ended well.
    Completed,
    /// It failed.
    Failed,
    /// Its instance was stopped.
    Cancelled,
    /// The path to it was not taken.
    Skipped,
    /// Its plugin is at fault; an operator can resume it.
    Incident,
}

impl StepStatus {
    /// Every state.
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Running,
        Self::Waiting,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::Skipped,
        Self::Incident,
    ];

    /// Whether nothing can happen to it any more.
    pub fn ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled | Self::Skipped)
    }

    /// Whether it has begun and not ended.
    pub fn open(self) -> bool {
        matches!(self, Self::Running | Self::Waiting | Self::Incident)
    }

    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
            Self::Incident => "incident",
        }
    }
}

/// A row of `workflow_steps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepExecution {
    /// Its id.
    pub id: StepExecutionId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The instance it belongs to.
    pub instance_id: InstanceId,
    /// The step's id within its workflow.
    pub step_id: String,
    /// From 1.
    pub attempt: i32,
    /// The step type as the definition names it.
    pub step_type: String,
    /// Where it stands.
    pub status: StepStatus,
    /// The component that decides it, from its start to its end.
    pub plugin_digest: Option<Digest>,
    /// The resolved configuration, canonical JSON text.
    pub config: Option<String>,
    /// The plugin's own state, canonical JSON text.
    pub state: Option<String>,
    /// The version of the state's shape.
    pub state_version: i32,
    /// Calls made so far: the number of the next one.
    pub seq: i64,
    /// Effects emitted so far: from key to digest, so that a repeat is told from a contradiction.
    #[serde(default)]
    pub effect_keys: BTreeMap<String, String>,
    /// Paths into this step that have ended, taken or not.
    pub arrived: i32,
    /// Paths into this step that were taken.
    pub arrived_live: i32,
    /// Its output, after mapping.
    pub output: Option<Value>,
    /// Why it failed.
    pub error: Option<Failure>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}
