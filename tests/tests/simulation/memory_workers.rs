//! Tasks from the side of workers, in memory. Which workers there are is not simulated: nothing depends on it.

use async_trait::async_trait;
use stepwell::domain::page::PageRequest;
use stepwell::domain::task::{Task, TaskStatus};
use stepwell::domain::worker::{Cancellation, Worker};
use stepwell::domain::{TaskId, TenantId, Timestamp};
use stepwell::engine::port::WorkerRows;
use stepwell::engine::port::store::Result;

use super::memory::Memory;

#[async_trait]
impl WorkerRows for Memory {
    async fn workers(&self, _: &TenantId, _: Option<Timestamp>, _: &PageRequest) -> Result<Vec<Worker>> {
        Ok(Vec::new())
    }

    async fn worker(&self, _: &TenantId, _: &str) -> Result<Option<Worker>> {
        Ok(None)
    }

    async fn pending_task_types(
        &self,
        tenant: &TenantId,
        after: Option<&str>,
        max: u32,
    ) -> Result<Vec<String>> {
        self.read(|tables| {
            let pending = tables.tasks.values().filter(|task| task.status == TaskStatus::Pending);
            let types = pending.filter(|task| task.tenant == *tenant).map(|task| task.task_type.clone());
            let types: std::collections::BTreeSet<String> = types.collect();
            types.into_iter().filter(|name| Some(name.as_str()) > after).take(max as usize).collect()
        })
        .await
    }

    async fn held_by(&self, tenant: &TenantId, worker_id: &str, rows_max: u32) -> Result<Vec<TaskId>> {
        self.read(|tables| {
            let held = tables.tasks.values().filter(|task| task.status == TaskStatus::Locked);
            let held =
                held.filter(|task| task.tenant == *tenant && task.worker_id.as_deref() == Some(worker_id));
            held.map(|task| task.id).take(rows_max as usize).collect()
        })
        .await
    }

    async fn withdrawn_from(
        &self,
        _: &TenantId,
        _: &str,
        _: (Timestamp, TaskId),
        _: u32,
    ) -> Result<Vec<Cancellation>> {
        Ok(Vec::new())
    }

    async fn ahead_of(&self, _: &Task, _: Timestamp, _: u32) -> Result<u32> {
        Ok(0)
    }
}
