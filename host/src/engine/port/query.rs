//! Questions about open tasks with many filters, as Camunda's surface asks them.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::store::Result;
use crate::domain::batch::Batch;
use crate::domain::instance::{Instance, InstanceStatus};
use crate::domain::task::Task;
use crate::domain::{InstanceId, StepExecutionId, TaskId, TenantId, Timestamp};

/// Which open tasks; those that were given up are open, too. What is absent filters nothing.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names are those of Camunda's filters, in our words")]
pub struct TaskQuery {
    pub now: Timestamp,
    pub ids: Option<Vec<TaskId>>,
    pub task_type: Option<String>,
    pub worker_id: Option<String>,
    pub locked: bool,
    pub not_locked: bool,
    pub retries_left: bool,
    pub no_retries_left: bool,
    pub locked_after: Option<Timestamp>,
    pub locked_before: Option<Timestamp>,
    pub step_ids: Option<Vec<String>>,
    pub step_execution_id: Option<StepExecutionId>,
    pub instance_ids: Option<Vec<InstanceId>>,
    /// `key:version`.
    pub definition_ids: Option<Vec<String>>,
    pub workflow_keys: Option<Vec<String>>,
    pub workflow_name: Option<String>,
    pub workflow_name_like: Option<String>,
    pub business_key: Option<String>,
    pub active: bool,
    pub suspended: bool,
    /// In Stepwell's order, where 1 is first.
    pub priority_min: Option<i64>,
    pub priority_max: Option<i64>,
    /// At most [`SORTS_MAX`].
    pub sorts: Vec<Sort>,
    pub offset: u32,
    pub rows_max: u32,
}

/// Orders that a list can have, one within the other.
pub const SORTS_MAX: usize = 4;

/// Tasks of a type that can be handed out and that a worker's filters let through. What is absent filters nothing.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "the names are those of Camunda's filters, in our words")]
pub struct FilteredQuery {
    pub now: Timestamp,
    pub task_type: String,
    pub business_key: Option<String>,
    pub definition_ids: Option<Vec<String>>,
    pub workflow_keys: Option<Vec<String>>,
    /// A pattern of `like` for the tag of the workflow's version.
    pub version_tag: Option<String>,
    /// The instance's context has any of these.
    pub variables: Option<Map<String, Value>>,
    /// By priority first; else by age, if that is asked for; else by turn.
    pub by_priority: bool,
    pub newest_first: Option<bool>,
    /// Tasks that are looked at: the first of the queue.
    pub look_max: u32,
    pub rows_max: u32,
}

/// What they let through.
#[derive(Clone, Debug, Default)]
pub struct Filtered {
    /// Tasks, in the order that was asked for.
    pub tasks: Vec<Task>,
    /// How many were looked at.
    pub looked_at: u32,
}

/// An order of a list.
#[derive(Clone, Debug, Serialize)]
pub struct Sort {
    /// Camunda's word for it, such as `createTime`.
    pub by: &'static str,
    /// The other way round.
    pub desc: bool,
}

/// A task, without what workers got and gave, and what its instance says.
#[derive(Clone, Debug, Deserialize)]
pub struct FoundTask {
    /// The task.
    pub task: Task,
    /// The version of its workflow.
    pub workflow_version: i32,
    /// What its author calls that version.
    pub version_tag: Option<String>,
    /// Where its instance stands.
    pub instance_status: InstanceStatus,
}

/// Which task types.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TypeQuery {
    /// The time.
    pub now: Timestamp,
    /// With tasks that somebody holds.
    pub locked: bool,
    /// With tasks that nobody holds.
    pub not_locked: bool,
    /// With tasks that have attempts left.
    pub retries_left: bool,
}

/// The part of a store that answers them.
#[async_trait]
pub trait TaskQueries: Send + Sync + 'static {
    /// Open tasks.
    async fn find_tasks(&self, tenant: &TenantId, query: &TaskQuery) -> Result<Vec<FoundTask>>;
    /// Tasks that can be handed out, for a worker with filters.
    async fn filtered_tasks(&self, tenant: &TenantId, query: &FilteredQuery) -> Result<Filtered>;
    /// How many there are, whatever the page.
    async fn count_tasks(&self, tenant: &TenantId, query: &TaskQuery) -> Result<i64>;
    /// The types of open tasks, each once.
    async fn task_types(&self, tenant: &TenantId, query: &TypeQuery) -> Result<Vec<String>>;
    /// Some instances, in any order.
    async fn instances_of(&self, tenant: &TenantId, ids: &[InstanceId]) -> Result<Vec<Instance>>;
    /// Batches, newest first, or the one asked for.
    async fn batches(&self, tenant: &TenantId, id: Option<Uuid>) -> Result<Vec<Batch>>;
    /// Batches of all tenants whose host has not gone on with them.
    async fn due_batches(&self, now: Timestamp, rows_max: u32) -> Result<Vec<Batch>>;
}
