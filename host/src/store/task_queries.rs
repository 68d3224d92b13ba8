//! Questions about open tasks with many filters.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::driver::Driver;
use super::room::Room;
use super::statement as sql;
use crate::domain::batch::Batch;
use crate::domain::instance::Instance;
use crate::domain::task::Task;
use crate::domain::{InstanceId, TenantId, Timestamp};
use crate::engine::port::query::{Filtered, FilteredQuery, FoundTask, TaskQueries, TaskQuery, TypeQuery};
use crate::engine::port::store::Result;

#[async_trait]
impl<D: Driver> TaskQueries for Room<D> {
    async fn find_tasks(&self, tenant: &TenantId, query: &TaskQuery) -> Result<Vec<FoundTask>> {
        self.read(&sql::FIND_TASKS, argument(tenant, query)).await
    }

    async fn filtered_tasks(&self, tenant: &TenantId, query: &FilteredQuery) -> Result<Filtered> {
        #[derive(Deserialize)]
        struct Row {
            looked_at: u32,
            task: Option<Task>,
        }
        let rows: Vec<Row> = self.read(&sql::FILTERED_TASKS, argument(tenant, query)).await?;
        let looked_at = rows.first().map_or(0, |row| row.looked_at);
        let mut tasks: Vec<Task> = rows.into_iter().filter_map(|row| row.task).collect();
        tasks.sort_by_key(|task| {
            let age = match query.newest_first {
                None => 0,
                Some(false) => task.created_at.millis(),
                Some(true) => -task.created_at.millis(),
            };
            (query.by_priority.then_some(task.priority), age, task.turn_at, task.id)
        });
        Ok(Filtered { tasks, looked_at })
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
