//! What the store knows of workers, and of tasks from their side. All of it is scoped by a tenant.

use async_trait::async_trait;

use super::store::Result;
use crate::domain::page::PageRequest;
use crate::domain::task::Task;
use crate::domain::worker::{Cancellation, Worker};
use crate::domain::{TaskId, TenantId, Timestamp};

/// Reads that workers and their operators need.
#[async_trait]
pub trait WorkerRows: Send + Sync + 'static {
    /// Workers, newest first; one row more than asked for if there are more.
    async fn workers(
        &self,
        tenant: &TenantId,
        seen_since: Option<Timestamp>,
        page: &PageRequest,
    ) -> Result<Vec<Worker>>;
    /// A worker by its name.
    async fn worker(&self, tenant: &TenantId, worker_id: &str) -> Result<Option<Worker>>;
    /// The types of pending tasks, each once, in order, after a type.
    async fn pending_task_types(
        &self,
        tenant: &TenantId,
        after: Option<&str>,
        rows_max: u32,
    ) -> Result<Vec<String>>;
    /// Tasks that a worker holds.
    async fn held_by(&self, tenant: &TenantId, worker_id: &str, rows_max: u32) -> Result<Vec<TaskId>>;
    /// Tasks that were withdrawn while a worker held them, oldest first, after a time and a task.
    async fn withdrawn_from(
        &self,
        tenant: &TenantId,
        worker_id: &str,
        after: (Timestamp, TaskId),
        rows_max: u32,
    ) -> Result<Vec<Cancellation>>;
    /// How many tasks of the same type are handed out before a pending one, counted up to a limit.
    async fn ahead_of(&self, task: &Task, now: Timestamp, rows_max: u32) -> Result<u32>;
}
