//! An incident: a plugin is at fault, its step is held, nothing is lost.

use serde::{Deserialize, Serialize};

use super::{Digest, EventId, IncidentId, InstanceId, StepExecutionId, TenantId, Timestamp};

/// A row of `workflow_incidents`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Its id.
    pub id: IncidentId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The instance that it holds.
    pub instance_id: InstanceId,
    /// The step that it holds.
    pub step_execution_id: StepExecutionId,
    /// The step's id within its workflow.
    pub step_id: String,
    /// A stable code: `plugin_trap`, `plugin_fuel`, `plugin_memory`, …
    pub code: String,
    /// What happened, for people.
    pub message: String,
    /// The component at fault.
    pub plugin_digest: Option<Digest>,
    /// The event that was being consumed, kept in the inbox; none if the step was starting.
    pub event_id: Option<EventId>,
    /// When it happened.
    pub created_at: Timestamp,
    /// Set when an operator resumed the step, or its instance ended.
    pub resolved_at: Option<Timestamp>,
}
