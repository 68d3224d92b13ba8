//! Events from outside, as the engine asks for them.

use async_trait::async_trait;
use serde_json::json;

use super::driver::Driver;
use super::room::Room;
use super::rows::paged;
use super::statement as sql;
use crate::domain::incoming::RejectedEvent;
use crate::domain::page::PageRequest;
use crate::domain::wait::{EventTriggerRow, KeptEvent, TopicFields, WaitCount, WaitState};
use crate::domain::{InstanceId, StepExecutionId, TenantId, Timestamp};
use crate::engine::port::EventRows;
use crate::engine::port::events::{KeptSum, WaitFilter, WaitKey};
use crate::engine::port::store::Result;

/// Rows of topics and triggers that one batch of events looks at.
const RULES_MAX: u32 = 10_000;
/// A wait that should have ended so long ago was not looked after.
const OVERDUE_MS: i64 = 60_000;

#[async_trait]
impl<D: Driver> EventRows for Room<D> {
    async fn wait_state(&self, tenant: &TenantId, id: StepExecutionId) -> Result<Option<WaitState>> {
        self.read_one(&sql::WAIT_STATE, json!({ "tenant": tenant, "id": id })).await
    }

    async fn waits_for(&self, keys: &[WaitKey]) -> Result<Vec<WaitState>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut waits: Vec<WaitState> = self.read(&sql::WAITS_FOR, json!(keys)).await?;
        // Newest first: what is left of each key is its newest.
        let mut seen = std::collections::HashSet::new();
        waits.retain(|wait| {
            seen.insert((wait.tenant.clone(), wait.execution_id, wait.correlation_id.clone()))
        });
        Ok(waits)
    }

    async fn wait_states(
        &self,
        tenant: &TenantId,
        filter: &WaitFilter,
        page: &PageRequest,
    ) -> Result<Vec<WaitState>> {
        let statuses = Some(&filter.statuses).filter(|statuses| !statuses.is_empty());
        let argument = json!({ "tenant": tenant, "execution_id": filter.execution_id, "statuses": statuses });
        self.read(&sql::WAIT_STATES, paged(page, argument)).await
    }

    async fn kept_events(&self, key: &WaitKey) -> Result<Vec<KeptEvent>> {
        self.read(&sql::KEPT_EVENTS, json!(key)).await
    }

    async fn kept_sum(&self, tenant: &TenantId, instance: InstanceId) -> Result<KeptSum> {
        let argument = json!({ "tenant": tenant, "execution_id": instance });
        Ok(self.read_one(&sql::KEPT_SUM, argument).await?.unwrap_or_default())
    }

    async fn kept_expired(&self, now: Timestamp, rows_max: u32) -> Result<Vec<KeptEvent>> {
        self.read(&sql::KEPT_EXPIRED, json!({ "now": now, "rows_max": rows_max })).await
    }

    async fn topic_fields(&self, tenant: Option<&TenantId>, topics: &[String]) -> Result<Vec<TopicFields>> {
        let argument = json!({ "tenant": tenant, "topics": topics, "rows_max": RULES_MAX });
        self.read(&sql::TOPIC_FIELDS, argument).await
    }

    async fn event_triggers(
        &self,
        tenant: Option<&TenantId>,
        topics: &[String],
    ) -> Result<Vec<EventTriggerRow>> {
        let argument = json!({ "tenant": tenant, "topics": topics, "rows_max": RULES_MAX });
        self.read(&sql::EVENT_TRIGGERS, argument).await
    }

    async fn event_topics(&self) -> Result<Vec<String>> {
        self.read(&sql::EVENT_TOPICS, json!({})).await
    }

    async fn rejected_events(&self, tenant: &TenantId, page: &PageRequest) -> Result<Vec<RejectedEvent>> {
        self.read(&sql::REJECTED_EVENTS, paged(page, json!({ "tenant": tenant }))).await
    }

    async fn wait_count(&self, now: Timestamp) -> Result<WaitCount> {
        let argument = json!({ "overdue_before": now.plus_millis(-OVERDUE_MS) });
        Ok(self.read_one(&sql::WAIT_COUNT, argument).await?.unwrap_or_default())
    }
}
