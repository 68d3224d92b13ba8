//! What the store knows of events from outside: waits, topics, triggers, and what came too early or was refused.

use async_trait::async_trait;
use serde::Serialize;
use uuid::Uuid;

use super::store::Result;
use crate::domain::incoming::RejectedEvent;
use crate::domain::page::PageRequest;
use crate::domain::wait::{EventTriggerRow, KeptEvent, TopicFields, WaitCount, WaitState, WaitStatus};
use crate::domain::{InstanceId, StepExecutionId, TenantId, Timestamp};

/// What an event says whom it is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct WaitKey {
    pub tenant: TenantId,
    pub execution_id: InstanceId,
    pub correlation_id: String,
}

/// Which waits a list shows.
#[derive(Clone, Debug, Default)]
pub struct WaitFilter {
    /// Only this instance's.
    pub execution_id: Option<InstanceId>,
    /// Only in one of these states.
    pub statuses: Vec<WaitStatus>,
}

/// How much is kept for an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
pub struct KeptSum {
    /// Events.
    pub count: i64,
    /// Bytes of them.
    pub bytes: i64,
}

/// An event that was kept is no longer.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct KeptGone {
    pub tenant: TenantId,
    pub id: Uuid,
}

/// A workflow was deployed: events start it by these triggers, and no others.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct EventTriggersKept {
    pub tenant: TenantId,
    pub workflow_key: String,
    pub trigger_ids: Vec<String>,
}

/// Refused events beyond the newest of each tenant are forgotten.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct RejectedForgotten {
    pub per_tenant_max: u32,
    pub created_before: Timestamp,
}

/// Waits that ended before a time are forgotten.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct WaitsForgotten {
    pub ended_before: Timestamp,
    pub rows_max: u32,
}

/// Reads for events from outside.
#[async_trait]
pub trait EventRows: Send + Sync + 'static {
    /// A wait.
    async fn wait_state(&self, tenant: &TenantId, id: StepExecutionId) -> Result<Option<WaitState>>;
    /// The waits that some events are for; of several attempts under one id, the newest.
    async fn waits_for(&self, keys: &[WaitKey]) -> Result<Vec<WaitState>>;
    /// Waits, newest first; one row more than asked for if there are more.
    async fn wait_states(
        &self,
        tenant: &TenantId,
        filter: &WaitFilter,
        page: &PageRequest,
    ) -> Result<Vec<WaitState>>;
    /// What is kept for a wait, in order of arrival.
    async fn kept_events(&self, key: &WaitKey) -> Result<Vec<KeptEvent>>;
    /// How much is kept for an instance.
    async fn kept_sum(&self, tenant: &TenantId, instance: InstanceId) -> Result<KeptSum>;
    /// What was kept too long, over all tenants.
    async fn kept_expired(&self, now: Timestamp, rows_max: u32) -> Result<Vec<KeptEvent>>;
    /// Where events of some topics have their ids; over all tenants, or of one.
    async fn topic_fields(&self, tenant: Option<&TenantId>, topics: &[String]) -> Result<Vec<TopicFields>>;
    /// What events of some topics start; over all tenants, or of one.
    async fn event_triggers(
        &self,
        tenant: Option<&TenantId>,
        topics: &[String],
    ) -> Result<Vec<EventTriggerRow>>;
    /// Every topic that a workflow names, over all tenants, sorted.
    async fn event_topics(&self) -> Result<Vec<String>>;
    /// Refused events, newest first; one row more than asked for if there are more.
    async fn rejected_events(&self, tenant: &TenantId, page: &PageRequest) -> Result<Vec<RejectedEvent>>;
    /// How many waits there are, over all tenants.
    async fn wait_count(&self, now: Timestamp) -> Result<WaitCount>;
}
