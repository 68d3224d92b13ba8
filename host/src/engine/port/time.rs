//! What the store knows of time: what timers need to fire, and schedules.

use async_trait::async_trait;

use super::store::Result;
use crate::domain::instance::Instance;
use crate::domain::page::PageRequest;
use crate::domain::schedule::Schedule;
use crate::domain::step::StepExecution;
use crate::domain::{InstanceId, ScheduleId, TenantId, Timestamp};

/// A step that something is about to happen to.
#[derive(Clone, Debug, serde::Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Owner {
    pub tenant: TenantId,
    pub workflow_instance_id: InstanceId,
    pub step_id: String,
}

/// Reads and claims for what is due, over all tenants: each row names its own. What people see is scoped by one.
#[async_trait]
pub trait TimeRows: Send + Sync + 'static {
    /// The instances of some steps, each once.
    async fn instances_of_steps(&self, owners: &[Owner]) -> Result<Vec<Instance>>;
    /// The newest execution of each of some steps.
    async fn executions_of_steps(&self, owners: &[Owner]) -> Result<Vec<StepExecution>>;
    /// Takes schedules that are due; nobody else takes them till `lease_until`.
    async fn claim_schedules(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<Schedule>>;
    /// A schedule.
    async fn schedule(&self, tenant: &TenantId, id: ScheduleId) -> Result<Option<Schedule>>;
    /// Schedules, newest first, perhaps of one workflow; one row more than asked for if there are more.
    async fn schedules(
        &self,
        tenant: &TenantId,
        workflow_key: Option<&str>,
        page: &PageRequest,
    ) -> Result<Vec<Schedule>>;
}
