//! Timers, subscriptions and the outbox: what an instance waits for, and what leaves it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{InstanceId, StepExecutionId, SubscriptionId, TenantId, TimerId, Timestamp};

/// A row of `workflow_timers`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timer {
    /// Its id.
    pub id: TimerId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The instance that waits.
    pub workflow_instance_id: InstanceId,
    /// The step that waits.
    pub step_execution_id: StepExecutionId,
    /// The step's id within its workflow.
    pub step_id: String,
    /// The key that the plugin chose.
    pub key: String,
    /// `DELAY`, `SCHEDULED`, `REMINDER`, or a plugin's own word.
    pub timer_type: String,
    /// When it is due.
    pub trigger_at: Timestamp,
    /// Whether it has fired.
    pub triggered: bool,
    /// When it fired.
    pub triggered_at: Option<Timestamp>,
    /// For reminders.
    pub reminder_config: Option<Value>,
    /// When it was set.
    pub created_at: Timestamp,
}

/// A row of `workflow_subscriptions`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subscription {
    /// Its id.
    pub id: SubscriptionId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The instance that waits.
    pub instance_id: InstanceId,
    /// The step that waits.
    pub step_execution_id: StepExecutionId,
    /// The key that the plugin chose.
    pub key: String,
    /// The message's name.
    pub name: String,
    /// Only messages with this correlation.
    pub correlation: Option<String>,
    /// When the interest ends.
    pub expires_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A row of `workflow_outbox`: something that must leave the host, after its commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutboxItem {
    /// Its id; ids are in order of their making.
    pub id: Uuid,
    /// Whose it is.
    pub tenant: TenantId,
    /// The instance that sends it.
    pub instance_id: InstanceId,
    /// The step that sends it.
    pub step_execution_id: StepExecutionId,
    /// Items of one ordering key leave one after the other.
    pub ordering_key: String,
    /// What it is: `publish`, and later `http-call`, `notify`.
    pub kind: String,
    /// The effect, canonical JSON text.
    pub payload: String,
    /// Tries so far.
    pub attempts: i32,
    /// Not before.
    pub due_at: Timestamp,
    /// Why the last try failed.
    pub last_error: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}
