//! What a transition relies on.

use serde::Serialize;
use uuid::Uuid;

use crate::domain::{InstanceId, ScheduleId, SubscriptionId, TaskId, TenantId, TimerId, Timestamp};

/// Something that must still be so when a transition is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "guard", rename_all = "snake_case")]
pub enum Guard {
    /// The instance's version is the one that was read.
    Instance {
        /// Whose.
        tenant: TenantId,
        /// Which.
        id: InstanceId,
        /// As read.
        version: i64,
    },
    /// The task's version is the one that was read: claims and heartbeats raise it, not the instance's.
    Task {
        /// Whose.
        tenant: TenantId,
        /// Which.
        id: TaskId,
        /// As read.
        version: i64,
    },
    /// The timer has not fired and was not withdrawn or moved.
    Timer {
        /// Whose.
        tenant: TenantId,
        /// Which.
        id: TimerId,
        /// As read.
        trigger_at: Timestamp,
    },
    /// The subscription is still there.
    Subscription {
        /// Whose.
        tenant: TenantId,
        /// Which.
        id: SubscriptionId,
    },
    /// The schedule's version is the one that was read.
    Schedule {
        /// Whose.
        tenant: TenantId,
        /// Which.
        id: ScheduleId,
        /// As read.
        version: i64,
    },
    /// The outbox item is still there.
    Outbox {
        /// Whose.
        tenant: TenantId,
        /// Which.
        id: Uuid,
    },
    /// No instance was started with this idempotency key; else the verdict is [`super::Verdict::Started`].
    StartKey {
        /// Whose.
        tenant: TenantId,
        /// The workflow's key.
        workflow_key: String,
        /// The caller's key.
        key: String,
    },
    /// The newest version of the workflow is still this one. Unlike all others it is not exclusive: any number of
    /// starts may rely on it.
    NewestVersion {
        /// Whose.
        tenant: TenantId,
        /// The workflow's key.
        key: String,
        /// As remembered.
        version: i32,
    },
    /// The newest version of the workflow is this one (0: there is none).
    DefinitionVersion {
        /// Whose.
        tenant: TenantId,
        /// The workflow's key.
        key: String,
        /// As read.
        version: i32,
    },
}
