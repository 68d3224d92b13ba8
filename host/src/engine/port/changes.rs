//! Rows that are written in part: what changes, and nothing else.

use serde::Serialize;
use serde_json::Value;

use crate::domain::instance::InstanceStatus;
use crate::domain::task::Task;
use crate::domain::transition::Failure;
use crate::domain::{InstanceId, LockToken, TaskId, TenantId, Timestamp};

/// What changes in an instance's row.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "as in Instance")]
pub struct InstanceUpdate {
    pub id: InstanceId,
    pub tenant: TenantId,
    pub status: InstanceStatus,
    pub version: i64,
    pub open_steps: i32,
    pub open_incidents: i32,
    pub error: Option<Failure>,
    /// Only if it changed.
    pub context: Option<Value>,
    pub updated_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub turns: Option<crate::domain::turn::Turns>,
}

/// A task is held by a worker.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "as in Task")]
pub struct TaskLocked {
    pub id: TaskId,
    pub tenant: TenantId,
    pub worker_id: Option<String>,
    pub lock_token: Option<LockToken>,
    pub locked_at: Option<Timestamp>,
    pub lock_expires_at: Option<Timestamp>,
    pub due_at: Option<Timestamp>,
    pub version: i64,
}

impl TaskLocked {
    /// What a lock changes in a task's row.
    pub fn of(held: &Task) -> Self {
        Self {
            id: held.id,
            tenant: held.tenant.clone(),
            worker_id: held.worker_id.clone(),
            lock_token: held.lock_token,
            locked_at: held.locked_at,
            lock_expires_at: held.lock_expires_at,
            due_at: held.due_at,
            version: held.version,
        }
    }
}
