//! What is due, in memory. Schedules are not simulated: workflows of the simulation have none.

use async_trait::async_trait;
use stepwell::domain::instance::Instance;
use stepwell::domain::page::PageRequest;
use stepwell::domain::schedule::Schedule;
use stepwell::domain::step::StepExecution;
use stepwell::domain::{ScheduleId, TenantId, Timestamp};
use stepwell::engine::port::TimeRows;
use stepwell::engine::port::store::Result;
use stepwell::engine::port::time::Owner;

use super::memory::Memory;

#[async_trait]
impl TimeRows for Memory {
    async fn instances_of_steps(&self, owners: &[Owner]) -> Result<Vec<Instance>> {
        self.read(|tables| {
            let ids = owners.iter().map(|owner| owner.workflow_instance_id);
            ids.filter_map(|id| tables.instances.get(&id).cloned()).collect()
        })
        .await
    }

    async fn executions_of_steps(&self, owners: &[Owner]) -> Result<Vec<StepExecution>> {
        self.read(|tables| {
            let newest = |owner: &Owner| {
                let of_step = tables.steps.values().filter(|step| {
                    step.instance_id == owner.workflow_instance_id && step.step_id == owner.step_id
                });
                of_step.max_by_key(|step| step.attempt).cloned()
            };
            owners.iter().filter_map(newest).collect()
        })
        .await
    }

    async fn claim_schedules(&self, _: Timestamp, _: Timestamp, _: u32) -> Result<Vec<Schedule>> {
        Ok(Vec::new())
    }

    async fn schedule(&self, _: &TenantId, _: ScheduleId) -> Result<Option<Schedule>> {
        Ok(None)
    }

    async fn schedules(&self, _: &TenantId, _: Option<&str>, _: &PageRequest) -> Result<Vec<Schedule>> {
        Ok(Vec::new())
    }
}
