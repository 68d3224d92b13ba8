//! Questions about open tasks with many filters.

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::driver::Driver;
use super::room::Room;
use super::statement as sql;
use crate::domain::batch::Batch;
use crate::domain::instance::Instance;
use crate::domain::{InstanceId, TenantId, Timestamp};
use crate::engine::port::query::{FoundTask, TaskQueries, TaskQuery, TypeQuery};
use crate::engine::port::store::Result;

#[async_trait]
impl<D: Driver> TaskQueries for Room<D> {
    async fn find_tasks(&self, tenant: &TenantId, query: &TaskQuery) -> Result<Vec<FoundTask>> {
        self.read(&sql::FIND_TASKS, argument(tenant, query)).await
    }

    async fn count_tasks(&self, tenant: &TenantId, query: &TaskQuery) -> Result<i64> {
        let counts: Vec<i64> = self.read(&sql::COUNT_TASKS, argument(tenant, query)).await?;
        Ok(counts.first().copied().unwrap_or_default())
    }

    async fn task_types(&self, tenant: &TenantId, query: &TypeQuery) -> Result<Vec<String>> {
        self.read(&sql::TASK_TYPES, argument(tenant, query)).await
    }

    async fn instances_of(&self, tenant: &TenantId, ids: &[InstanceId]) -> Result<Vec<Instance>> {
        self.read(&sql::INSTANCES_OF, json!({ "tenant": tenant, "ids": ids })).await
    }

    async fn batches(&self, tenant: &TenantId, id: Option<Uuid>) -> Result<Vec<Batch>> {
        self.read(&sql::BATCHES, json!({ "tenant": tenant, "id": id })).await
    }

    async fn due_batches(&self, now: Timestamp, rows_max: u32) -> Result<Vec<Batch>> {
        self.read(&sql::DUE_BATCHES, json!({ "now": now, "rows_max": rows_max })).await
    }
}

fn argument(tenant: &TenantId, query: &impl Serialize) -> Value {
    let mut argument = serde_json::to_value(query).unwrap_or_default();
    argument["tenant"] = json!(tenant);
    argument
}
