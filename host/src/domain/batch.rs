//! A batch: the same change to many tasks, made one after the other while nobody waits.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{TaskId, TenantId, Timestamp};

/// A row of `workflow_batches`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Its id.
    pub id: Uuid,
    /// Whose it is.
    pub tenant: TenantId,
    /// What is done: `set-external-task-retries`.
    pub kind: String,
    /// Attempts that each task gets.
    pub retries: i32,
    /// To which tasks, in order.
    pub task_ids: Vec<TaskId>,
    /// To how many of them it was done, or could not be.
    pub done: i32,
    /// How many of these could not be changed.
    pub failed: i32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
    /// From when on another host may go on with it; none once it is over.
    pub due_at: Option<Timestamp>,
}

/// Batches of all tenants that were over before a time.
#[derive(Clone, Debug, Serialize)]
pub struct BatchesForgotten {
    /// The time.
    pub finished_before: Timestamp,
}
