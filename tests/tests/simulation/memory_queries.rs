//! What only Camunda's surface and senders ask, which is not simulated.

use async_trait::async_trait;
use stepwell::domain::batch::Batch;
use stepwell::domain::instance::Instance;
use stepwell::domain::page::PageRequest;
use stepwell::domain::reminder::Reminder;
use stepwell::domain::secret::Secret;
use stepwell::domain::sender::Sender;
use stepwell::domain::{InstanceId, TenantId, Timestamp};
use stepwell::engine::port::OutgoingRows;
use stepwell::engine::port::outgoing::{DeadItem, Named, ReminderFilter};
use stepwell::engine::port::query::{Filtered, FilteredQuery, FoundTask, TaskQueries, TaskQuery, TypeQuery};
use stepwell::engine::port::store::Result;
use uuid::Uuid;

use super::memory::Memory;

#[async_trait]
impl TaskQueries for Memory {
    async fn find_tasks(&self, _: &TenantId, _: &TaskQuery) -> Result<Vec<FoundTask>> {
        Ok(Vec::new())
    }

    async fn filtered_tasks(&self, _: &TenantId, _: &FilteredQuery) -> Result<Filtered> {
        Ok(Filtered::default())
    }

    async fn count_tasks(&self, _: &TenantId, _: &TaskQuery) -> Result<i64> {
        Ok(0)
    }

    async fn task_types(&self, _: &TenantId, _: &TypeQuery) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    async fn instances_of(&self, _: &TenantId, _: &[InstanceId]) -> Result<Vec<Instance>> {
        Ok(Vec::new())
    }

    async fn batches(&self, _: &TenantId, _: Option<Uuid>) -> Result<Vec<Batch>> {
        Ok(Vec::new())
    }

    async fn due_batches(&self, _: Timestamp, _: u32) -> Result<Vec<Batch>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl OutgoingRows for Memory {
    async fn secrets(&self, _: &TenantId, _: Option<&[String]>) -> Result<Vec<Secret>> {
        Ok(Vec::new())
    }

    async fn secrets_of_other_keys(&self, _: &str, _: Option<&Named>, _: u32) -> Result<Vec<Secret>> {
        Ok(Vec::new())
    }

    async fn senders(&self, _: &TenantId) -> Result<Vec<Sender>> {
        Ok(Vec::new())
    }

    async fn reminders(&self, _: &TenantId, _: &ReminderFilter, _: &PageRequest) -> Result<Vec<Reminder>> {
        Ok(Vec::new())
    }

    async fn dead_items(&self, _: &TenantId, _: &PageRequest) -> Result<Vec<DeadItem>> {
        Ok(Vec::new())
    }

    async fn dead_item(&self, _: &TenantId, _: Uuid) -> Result<Option<DeadItem>> {
        Ok(None)
    }
}
