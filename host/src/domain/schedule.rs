//! Schedules: cron triggers of deployed workflows, with the time at which each is due next.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::trigger::{Misfire, Overlap};
use super::{InstanceId, ScheduleId, TenantId, Timestamp};

/// A row of `workflow_schedules`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Its id; the same through all versions of its workflow.
    pub id: ScheduleId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The workflow that it starts.
    pub workflow_key: String,
    /// The version that it comes from, which is the newest.
    pub workflow_version: i32,
    /// The trigger's id within the workflow.
    pub trigger_id: String,
    /// When.
    pub cron: String,
    /// In which zone.
    pub time_zone: String,
    /// What becomes of missed due times.
    pub misfire: Misfire,
    /// What happens if the instance before still runs.
    pub overlap: Overlap,
    /// The context of the instances.
    pub context: Value,
    /// Whether an operator has stopped it.
    pub paused: bool,
    /// The due time that comes next.
    pub next_at: Option<Timestamp>,
    /// Due times up to this one were reached, and wait for the instance before them.
    pub queued_until: Option<Timestamp>,
    /// Missed due times that were made up for in a row.
    pub made_up: i32,
    /// The due time of the last start.
    pub last_at: Option<Timestamp>,
    /// What was started last.
    pub last_instance_id: Option<InstanceId>,
    /// Why the last due time started nothing.
    pub last_error: Option<String>,
    /// When somebody must look at it.
    pub due_at: Option<Timestamp>,
    /// Raised by every change.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed.
    pub updated_at: Timestamp,
}
