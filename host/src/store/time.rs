//! What is due, as the engine asks for it.

use async_trait::async_trait;
use serde_json::json;

use super::driver::Driver;
use super::room::Room;
use super::rows::paged;
use super::statement as sql;
use crate::domain::instance::Instance;
use crate::domain::page::PageRequest;
use crate::domain::schedule::Schedule;
use crate::domain::step::StepExecution;
use crate::domain::{ScheduleId, TenantId, Timestamp};
use crate::engine::port::TimeRows;
use crate::engine::port::store::Result;
use crate::engine::port::time::Owner;

#[async_trait]
impl<D: Driver> TimeRows for Room<D> {
    async fn instances_of_steps(&self, owners: &[Owner]) -> Result<Vec<Instance>> {
        self.read(&sql::INSTANCES_OF_TIMERS, json!(owners)).await
    }

    async fn executions_of_steps(&self, owners: &[Owner]) -> Result<Vec<StepExecution>> {
        self.read(&sql::STEPS_OF_TIMERS, json!(owners)).await
    }

    async fn claim_schedules(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<Schedule>> {
        self.claim_due(&sql::CLAIM_SCHEDULES, now, lease_until, rows_max).await
    }

    async fn schedule(&self, tenant: &TenantId, id: ScheduleId) -> Result<Option<Schedule>> {
        self.read_one(&sql::SCHEDULE, json!({ "tenant": tenant, "id": id })).await
    }

    async fn schedules(
        &self,
        tenant: &TenantId,
        workflow_key: Option<&str>,
        page: &PageRequest,
    ) -> Result<Vec<Schedule>> {
        self.read(&sql::SCHEDULES, paged(page, json!({ "tenant": tenant, "workflow_key": workflow_key })))
            .await
    }
}
