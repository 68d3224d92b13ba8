//! A store in memory, with the same promises as the real ones: what the simulation runs on.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use stepwell::domain::definition::DefinitionRow;
use stepwell::domain::event::InboxEvent;
use stepwell::domain::incident::Incident;
use stepwell::domain::instance::Instance;
use stepwell::domain::journal::{Blob, JournalEntry};
use stepwell::domain::page::PageRequest;
use stepwell::domain::plugin::StoredPlugin;
use stepwell::domain::step::StepExecution;
use stepwell::domain::task::{Task, TaskStatus, seconds_to_millis};
use stepwell::domain::timer::{OutboxItem, Subscription, Timer};
use stepwell::domain::token::Token;
use stepwell::domain::{
    Digest, EventId, IncidentId, InstanceId, StepExecutionId, SubscriptionId, TaskId, TenantId, TimerId,
    Timestamp, TokenId,
};
use stepwell::engine::port::store::{
    EndedInstance, InstanceFilter, Result, TaskClaim, TaskCount, TaskFilter, TaskLease, TimerFilter,
};
use stepwell::engine::port::{Hint, Store, Verdict, WriteSet};
use uuid::Uuid;

use super::gate::{Fate, Gate};
use super::memory_commit;

/// All rows.
#[derive(Default)]
pub struct Tables {
    pub definitions: Vec<DefinitionRow>,
    pub instances: BTreeMap<InstanceId, Instance>,
    pub steps: BTreeMap<StepExecutionId, StepExecution>,
    pub tasks: BTreeMap<TaskId, Task>,
    /// With the time at which each is due, which a claim moves.
    pub timers: BTreeMap<TimerId, (Timer, Timestamp)>,
    pub subscriptions: BTreeMap<SubscriptionId, Subscription>,
    pub outbox: BTreeMap<Uuid, OutboxItem>,
    pub events: BTreeMap<EventId, InboxEvent>,
    pub incidents: BTreeMap<IncidentId, Incident>,
    pub journal: Vec<JournalEntry>,
    pub journal_keys: HashSet<(Uuid, i64)>,
    pub start_keys: HashMap<(TenantId, String, String), InstanceId>,
    pub outside: super::memory_events::Outside,
}

/// The store as one host reaches it: the rows are shared, the way to them has faults of its own.
pub struct Memory {
    pub tables: Arc<Mutex<Tables>>,
    pub gate: Arc<Gate>,
}

impl Memory {
    pub(super) async fn read<T>(&self, read: impl FnOnce(&Tables) -> T) -> Result<T> {
        self.gate.pass().await?;
        Ok(read(&self.tables.lock().unwrap()))
    }

    /// A write that is not a commit: done, or not done and said so.
    async fn write<T>(&self, write: impl FnOnce(&mut Tables) -> T) -> Result<T> {
        self.gate.pass().await?;
        let done = write(&mut self.tables.lock().unwrap());
        self.gate.answer().await;
        Ok(done)
    }
}

#[async_trait]
impl Store for Memory {
    async fn commit(&self, batch: Vec<WriteSet>) -> Result<Vec<Verdict>> {
        if self.gate.commit().await? == Fate::Conflict {
            return Ok(batch.iter().map(|_| Verdict::Conflict).collect());
        }
        let verdicts = {
            let mut tables = self.tables.lock().unwrap();
            batch.iter().map(|set| memory_commit::apply(&mut tables, set)).collect()
        };
        self.gate.committed().await?;
        Ok(verdicts)
    }

    fn commits_at_once(&self) -> usize {
        2
    }

    async fn claim_tasks(&self, claim: &TaskClaim) -> Result<Vec<Task>> {
        self.write(|tables| {
            let mut pending: Vec<&mut Task> = tables
                .tasks
                .values_mut()
                .filter(|task| {
                    task.status == TaskStatus::Pending
                        && task.tenant == claim.tenant
                        && task.available_at <= claim.now
                        && claim.task_types.contains(&task.task_type)
                })
                .collect();
            pending.sort_by_key(|task| (task.turn_at, task.id));
            let claimed = pending.into_iter().zip(&claim.slots).map(|(task, slot)| {
                let lock_ms = slot.lock_ms.unwrap_or_else(|| seconds_to_millis(task.lock_duration_seconds));
                task.status = TaskStatus::Locked;
                task.worker_id.clone_from(&slot.worker_id);
                task.lock_token = Some(slot.lock_token);
                task.locked_at = Some(claim.now);
                task.last_heartbeat_at = Some(claim.now);
                task.lock_expires_at = Some(claim.now.plus_millis(lock_ms));
                task.version += 1;
                task.due_at = task.deadline();
                task.clone()
            });
            claimed.collect()
        })
        .await
    }

    async fn pending_tasks(
        &self,
        tenant: &TenantId,
        task_types: &[String],
        now: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<Task>> {
        self.read(|tables| {
            let pending = tables.tasks.values().filter(|task| {
                task.status == TaskStatus::Pending
                    && task.tenant == *tenant
                    && task.available_at <= now
                    && task_types.contains(&task.task_type)
            });
            pending.take(rows_max as usize).cloned().collect()
        })
        .await
    }

    async fn claim_due_tasks(&self, now: Timestamp, until: Timestamp, rows_max: u32) -> Result<Vec<Task>> {
        self.write(|tables| {
            let due = tables.tasks.values_mut().filter(|task| task.due_at.is_some_and(|at| at <= now));
            let claimed = due.take(rows_max as usize).map(|task| {
                task.due_at = Some(until);
                task.clone()
            });
            claimed.collect()
        })
        .await
    }

    async fn claim_timers(&self, now: Timestamp, until: Timestamp, rows_max: u32) -> Result<Vec<Timer>> {
        self.write(|tables| {
            let due = tables.timers.values_mut().filter(|(timer, due)| !timer.triggered && *due <= now);
            let claimed = due.take(rows_max as usize).map(|(timer, due)| {
                *due = until;
                timer.clone()
            });
            claimed.collect()
        })
        .await
    }

    async fn claim_outbox(&self, now: Timestamp, until: Timestamp, rows_max: u32) -> Result<Vec<OutboxItem>> {
        self.write(|tables| {
            let mut heads = HashSet::new();
            let due = tables.outbox.values_mut().filter(|item| {
                heads.insert((item.tenant.clone(), item.ordering_key.clone())) && item.due_at <= now
            });
            let claimed = due.take(rows_max as usize).map(|item| {
                item.due_at = until;
                item.clone()
            });
            claimed.collect()
        })
        .await
    }

    async fn lease_tasks(&self, leases: &[TaskLease]) -> Result<Vec<bool>> {
        self.write(|tables| {
            let held = leases.iter().map(|lease| match tables.tasks.get_mut(&lease.task.id) {
                Some(row) if row.version == lease.read_version => {
                    *row = lease.task.clone();
                    true
                }
                _ => false,
            });
            held.collect()
        })
        .await
    }

    async fn next_hints(&self) -> Vec<Hint> {
        std::future::pending().await
    }

    async fn definition(
        &self,
        tenant: &TenantId,
        key: &str,
        version: Option<i32>,
    ) -> Result<Option<DefinitionRow>> {
        self.read(|tables| {
            let mut of_key = tables.definitions.iter().filter(|row| row.tenant == *tenant && row.key == key);
            of_key.rfind(|row| version.is_none_or(|version| row.version == version)).cloned()
        })
        .await
    }

    async fn instance(&self, tenant: &TenantId, id: InstanceId) -> Result<Option<Instance>> {
        self.read(|tables| tables.instances.get(&id).filter(|row| row.tenant == *tenant).cloned()).await
    }

    async fn steps(
        &self,
        _: &TenantId,
        id: InstanceId,
        ids: Option<&[String]>,
    ) -> Result<Vec<StepExecution>> {
        self.read(|tables| {
            let of_instance = tables.steps.values().filter(|step| step.instance_id == id);
            of_instance.filter(|step| ids.is_none_or(|ids| ids.contains(&step.step_id))).cloned().collect()
        })
        .await
    }

    async fn step_execution(&self, _: &TenantId, id: StepExecutionId) -> Result<Option<StepExecution>> {
        self.read(|tables| tables.steps.get(&id).cloned()).await
    }

    async fn task(&self, tenant: &TenantId, id: TaskId) -> Result<Option<Task>> {
        self.read(|tables| tables.tasks.get(&id).filter(|row| row.tenant == *tenant).cloned()).await
    }

    async fn events(&self, _: &TenantId, step: StepExecutionId) -> Result<Vec<InboxEvent>> {
        self.read(|tables| {
            tables.events.values().filter(|row| row.step_execution_id == step).cloned().collect()
        })
        .await
    }

    async fn incident(&self, _: &TenantId, id: IncidentId) -> Result<Option<Incident>> {
        self.read(|tables| tables.incidents.get(&id).cloned()).await
    }

    async fn matching(
        &self,
        tenant: &TenantId,
        name: &str,
        correlation: Option<&str>,
        now: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<Subscription>> {
        self.read(|tables| {
            let matching = tables.subscriptions.values().filter(|row| {
                row.tenant == *tenant
                    && row.name == name
                    && row.correlation.as_deref().is_none_or(|wanted| Some(wanted) == correlation)
                    && row.expires_at.is_none_or(|end| now < end)
            });
            matching.take(rows_max as usize).cloned().collect()
        })
        .await
    }

    async fn start_key(&self, tenant: &TenantId, workflow: &str, key: &str) -> Result<Option<InstanceId>> {
        let name = (tenant.clone(), workflow.to_owned(), key.to_owned());
        self.read(|tables| tables.start_keys.get(&name).copied()).await
    }

    async fn next_due(&self, _: Timestamp) -> Result<Option<Timestamp>> {
        self.read(|tables| {
            let tasks = tables.tasks.values().filter_map(|task| task.due_at);
            let timers = tables.timers.values().filter(|(timer, _)| !timer.triggered).map(|(_, due)| *due);
            tasks.chain(timers).chain(tables.outbox.values().map(|item| item.due_at)).min()
        })
        .await
    }

    async fn available_since(&self, after: Timestamp, now: Timestamp) -> Result<Vec<Hint>> {
        self.read(|tables| {
            let woken = tables.tasks.values().filter(|task| {
                task.status == TaskStatus::Pending && task.available_at > after && task.available_at <= now
            });
            let hint = |task: &Task| Hint::Tasks {
                tenant: task.tenant.clone(),
                task_type: task.task_type.clone(),
                count: 1,
            };
            woken.map(hint).collect()
        })
        .await
    }

    async fn definitions(&self, _: &TenantId, _: Option<&str>, _: u32) -> Result<Vec<DefinitionRow>> {
        self.read(|tables| tables.definitions.clone()).await
    }

    async fn instances(&self, _: &TenantId, _: &InstanceFilter, _: &PageRequest) -> Result<Vec<Instance>> {
        self.read(|tables| tables.instances.values().cloned().collect()).await
    }

    async fn tasks(&self, _: &TenantId, _: &TaskFilter, _: &PageRequest) -> Result<Vec<Task>> {
        self.read(|tables| tables.tasks.values().cloned().collect()).await
    }

    async fn incidents(
        &self,
        _: &TenantId,
        _: Option<InstanceId>,
        open_only: bool,
        _: &PageRequest,
    ) -> Result<Vec<Incident>> {
        self.read(|tables| {
            let shown = tables.incidents.values().filter(|row| !open_only || row.resolved_at.is_none());
            shown.cloned().collect()
        })
        .await
    }

    async fn timer(&self, _: &TenantId, id: TimerId) -> Result<Option<Timer>> {
        self.read(|tables| tables.timers.get(&id).map(|(timer, _)| timer.clone())).await
    }

    async fn timer_list(&self, _: &TenantId, filter: &TimerFilter, _: &PageRequest) -> Result<Vec<Timer>> {
        self.read(|tables| {
            let listed = tables.timers.values().map(|(timer, _)| timer);
            listed.filter(|timer| timer.triggered == filter.triggered).cloned().collect()
        })
        .await
    }

    async fn timers(&self, _: &TenantId, id: InstanceId) -> Result<Vec<Timer>> {
        self.read(|tables| {
            let of_instance = tables.timers.values().filter(|(timer, _)| timer.workflow_instance_id == id);
            of_instance.map(|(timer, _)| timer.clone()).collect()
        })
        .await
    }

    async fn journal(&self, _: &TenantId, id: InstanceId, _: &PageRequest) -> Result<Vec<JournalEntry>> {
        self.read(|tables| tables.journal.iter().filter(|row| row.instance_id == id).cloned().collect()).await
    }

    async fn blobs(&self, _: &TenantId, _: InstanceId, _: &[Digest]) -> Result<Vec<Blob>> {
        Ok(Vec::new())
    }

    async fn outbox(&self, _: &TenantId, _: &PageRequest) -> Result<Vec<OutboxItem>> {
        self.read(|tables| tables.outbox.values().cloned().collect()).await
    }

    async fn token(&self, _: TokenId) -> Result<Option<Token>> {
        Ok(None)
    }

    async fn tokens(&self, _: &TenantId) -> Result<Vec<Token>> {
        Ok(Vec::new())
    }

    async fn has_tokens(&self) -> Result<bool> {
        Ok(false)
    }

    async fn plugins(&self) -> Result<Vec<StoredPlugin>> {
        Ok(Vec::new())
    }

    async fn component(&self, _: &Digest) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    async fn task_counts(&self) -> Result<Vec<TaskCount>> {
        Ok(Vec::new())
    }

    async fn ended_before(&self, before: Timestamp, _: bool, rows_max: u32) -> Result<Vec<EndedInstance>> {
        self.read(|tables| {
            let ended = tables.instances.values().filter(|row| row.ended_at.is_some_and(|at| at < before));
            let name = |row: &Instance| EndedInstance { tenant: row.tenant.clone(), id: row.id };
            ended.take(rows_max as usize).map(name).collect()
        })
        .await
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }

    async fn close(&self) {}
}
