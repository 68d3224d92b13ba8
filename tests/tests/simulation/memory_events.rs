//! Events from outside, in memory.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use stepwell::domain::incoming::RejectedEvent;
use stepwell::domain::page::PageRequest;
use stepwell::domain::wait::{EventTriggerRow, KeptEvent, TopicFields, WaitCount, WaitState, WaitStatus};
use stepwell::domain::{InstanceId, StepExecutionId, TenantId, Timestamp};
use stepwell::engine::port::events::{KeptSum, WaitFilter, WaitKey};
use stepwell::engine::port::store::Result;
use stepwell::engine::port::{EventRows, Write};
use uuid::Uuid;

use super::memory::{Memory, Tables};

/// The rows of events.
#[derive(Default)]
pub struct Outside {
    pub waits: BTreeMap<StepExecutionId, WaitState>,
    pub kept: BTreeMap<Uuid, KeptEvent>,
    pub rejected: Vec<RejectedEvent>,
    topics: BTreeSet<TopicFields>,
    triggers: BTreeMap<(TenantId, String, String), EventTriggerRow>,
}

impl Outside {
    pub fn write(&mut self, write: &Write) {
        match write {
            Write::UpsertWait(row) => {
                let version = self.waits.get(&row.id).map_or(0, |known| known.version) + 1;
                self.waits.insert(row.id, WaitState { version, ..row.clone() });
            }
            Write::InsertKept(row) => {
                self.kept.insert(row.id, row.clone());
            }
            Write::DeleteKept(row) => {
                self.kept.remove(&row.id);
            }
            Write::InsertRejected(row) => self.rejected.push(row.clone()),
            Write::InsertTopic(row) => {
                self.topics.insert(row.clone());
            }
            Write::KeepEventTriggers(kept) => self.triggers.retain(|(tenant, key, id), _| {
                *tenant != kept.tenant || *key != kept.workflow_key || kept.trigger_ids.contains(id)
            }),
            Write::UpsertEventTrigger(row) => {
                let name = (row.tenant.clone(), row.workflow_key.clone(), row.trigger_id.clone());
                self.triggers.insert(name, row.clone());
            }
            _ => {}
        }
    }

    pub fn close(&mut self, at: Timestamp, of: impl Fn(StepExecutionId) -> bool) {
        for wait in self.waits.values_mut().filter(|wait| of(wait.id) && wait.status == WaitStatus::Waiting) {
            wait.status = WaitStatus::Cancelled;
            wait.updated_at = at;
            wait.version += 1;
        }
    }

    fn wait_for(&self, key: &WaitKey) -> Option<&WaitState> {
        let of_key = self.waits.values().filter(|wait| {
            wait.tenant == key.tenant
                && wait.execution_id == key.execution_id
                && wait.correlation_id == key.correlation_id
        });
        of_key.max_by_key(|wait| (wait.attempt, wait.id))
    }
}

fn is_of(tenant: Option<&TenantId>, row: &TenantId) -> bool {
    tenant.is_none_or(|tenant| tenant == row)
}

#[async_trait]
impl EventRows for Memory {
    async fn wait_state(&self, tenant: &TenantId, id: StepExecutionId) -> Result<Option<WaitState>> {
        self.read(|tables: &Tables| {
            tables.outside.waits.get(&id).filter(|wait| wait.tenant == *tenant).cloned()
        })
        .await
    }

    async fn waits_for(&self, keys: &[WaitKey]) -> Result<Vec<WaitState>> {
        self.read(|tables| keys.iter().filter_map(|key| tables.outside.wait_for(key)).cloned().collect())
            .await
    }

    async fn wait_states(&self, _: &TenantId, _: &WaitFilter, _: &PageRequest) -> Result<Vec<WaitState>> {
        self.read(|tables| tables.outside.waits.values().cloned().collect()).await
    }

    async fn kept_events(&self, key: &WaitKey) -> Result<Vec<KeptEvent>> {
        self.read(|tables| {
            let kept = tables.outside.kept.values();
            kept.filter(|row| {
                row.execution_id == key.execution_id && row.correlation_id == key.correlation_id
            })
            .cloned()
            .collect()
        })
        .await
    }

    async fn kept_sum(&self, _: &TenantId, instance: InstanceId) -> Result<KeptSum> {
        self.read(|tables| {
            let kept = tables.outside.kept.values().filter(|row| row.execution_id == instance);
            kept.fold(KeptSum::default(), |sum, row| KeptSum {
                count: sum.count + 1,
                bytes: sum.bytes + row.bytes,
            })
        })
        .await
    }

    async fn kept_expired(&self, now: Timestamp, rows_max: u32) -> Result<Vec<KeptEvent>> {
        self.read(|tables| {
            let expired = tables.outside.kept.values().filter(|row| row.expires_at <= now);
            expired.take(rows_max as usize).cloned().collect()
        })
        .await
    }

    async fn topic_fields(&self, tenant: Option<&TenantId>, topics: &[String]) -> Result<Vec<TopicFields>> {
        self.read(|tables| {
            let rows = tables.outside.topics.iter();
            rows.filter(|row| is_of(tenant, &row.tenant) && topics.contains(&row.topic)).cloned().collect()
        })
        .await
    }

    async fn event_triggers(
        &self,
        tenant: Option<&TenantId>,
        topics: &[String],
    ) -> Result<Vec<EventTriggerRow>> {
        self.read(|tables| {
            let rows = tables.outside.triggers.values();
            rows.filter(|row| is_of(tenant, &row.tenant) && topics.contains(&row.topic)).cloned().collect()
        })
        .await
    }

    async fn event_topics(&self) -> Result<Vec<String>> {
        self.read(|tables| {
            let named = tables.outside.topics.iter().map(|row| row.topic.clone());
            let topics: BTreeSet<String> =
                named.chain(tables.outside.triggers.values().map(|row| row.topic.clone())).collect();
            topics.into_iter().collect()
        })
        .await
    }

    async fn rejected_events(&self, _: &TenantId, _: &PageRequest) -> Result<Vec<RejectedEvent>> {
        self.read(|tables| tables.outside.rejected.clone()).await
    }

    async fn wait_count(&self, _: Timestamp) -> Result<WaitCount> {
        Ok(WaitCount::default())
    }
}
