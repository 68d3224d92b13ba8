//! Workers, and tasks from their side, as the engine asks for them.

use async_trait::async_trait;
use serde_json::json;

use super::driver::Driver;
use super::room::Room;
use super::rows::paged;
use super::statement as sql;
use crate::domain::page::PageRequest;
use crate::domain::task::Task;
use crate::domain::worker::{Cancellation, Worker};
use crate::domain::{TaskId, TenantId, Timestamp};
use crate::engine::port::WorkerRows;
use crate::engine::port::store::Result;

#[async_trait]
impl<D: Driver> WorkerRows for Room<D> {
    async fn workers(
        &self,
        tenant: &TenantId,
        seen_since: Option<Timestamp>,
        page: &PageRequest,
    ) -> Result<Vec<Worker>> {
        let argument = paged(page, json!({ "tenant": tenant, "seen_since": seen_since }));
        self.read(&sql::WORKERS, argument).await
    }

    async fn worker(&self, tenant: &TenantId, worker_id: &str) -> Result<Option<Worker>> {
        self.read_one(&sql::WORKER, json!({ "tenant": tenant, "worker_id": worker_id })).await
    }

    async fn pending_task_types(
        &self,
        tenant: &TenantId,
        after: Option<&str>,
        rows_max: u32,
    ) -> Result<Vec<String>> {
        let argument = json!({ "tenant": tenant, "after": after, "rows_max": rows_max });
        self.read(&sql::PENDING_TYPES, argument).await
    }

    async fn held_by(&self, tenant: &TenantId, worker_id: &str, rows_max: u32) -> Result<Vec<TaskId>> {
        let argument = json!({ "tenant": tenant, "worker_id": worker_id, "rows_max": rows_max });
        self.read(&sql::HELD_BY, argument).await
    }

    async fn withdrawn_from(
        &self,
        tenant: &TenantId,
        worker_id: &str,
        after: (Timestamp, TaskId),
        rows_max: u32,
    ) -> Result<Vec<Cancellation>> {
        let argument = json!({
            "tenant": tenant, "worker_id": worker_id, "since": after.0, "since_id": after.1, "rows_max": rows_max,
        });
        self.read(&sql::WITHDRAWN_FROM, argument).await
    }

    async fn ahead_of(&self, task: &Task, now: Timestamp, rows_max: u32) -> Result<u32> {
        let argument = json!({
            "tenant": task.tenant, "task_type": task.task_type, "turn_at": task.turn_at,
            "id": task.id, "now": now, "rows_max": rows_max,
        });
        Ok(self.read_one(&sql::AHEAD_OF, argument).await?.unwrap_or_default())
    }
}
