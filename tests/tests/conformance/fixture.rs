//! Rows to write, and how they are written.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::json;
use stepwell::domain::event::InboxEvent;
use stepwell::domain::incident::Incident;
use stepwell::domain::instance::{Instance, InstanceStatus};
use stepwell::domain::journal::{Blob, JournalEntry};
use stepwell::domain::json::JsonText;
use stepwell::domain::step::{StepExecution, StepStatus};
use stepwell::domain::task::{Task, TaskStatus};
use stepwell::domain::timer::{OutboxItem, Subscription, Timer};
use stepwell::domain::{
    Digest, EventId, IncidentId, InstanceId, LockToken, StepExecutionId, SubscriptionId, TaskId, TenantId,
    TimerId, Timestamp,
};
use stepwell::engine::port::store::{ClaimSlot, TaskClaim};
use stepwell::engine::port::write::{InstanceUpdate, StartKey};
use stepwell::engine::port::{Guard, Store, Verdict, Write, WriteSet};
use uuid::Uuid;

/// When every test begins.
pub(crate) const T0: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// So many milliseconds after the beginning.
pub(crate) fn at(ms: i64) -> Timestamp {
    T0.plus_millis(ms)
}

pub(crate) fn tenant(name: &str) -> TenantId {
    name.parse().expect("a tenant's name")
}

/// An instance with one step that waits.
pub(crate) struct Case {
    pub(crate) tenant: TenantId,
    pub(crate) instance: Instance,
    pub(crate) step: StepExecution,
}

impl Case {
    pub(crate) fn new() -> Self {
        Self::of("default")
    }

    pub(crate) fn of(name: &str) -> Self {
        let tenant = tenant(name);
        let instance = instance(&tenant);
        let step = step(&instance, "first", 1);
        Self { tenant, instance, step }
    }

    /// Writes instance and step, and whatever more.
    pub(crate) async fn write(&self, store: &dyn Store, more: Vec<Write>) -> Result<()> {
        let mut writes =
            vec![Write::InsertInstance(self.instance.clone()), Write::UpsertStep(self.step.clone())];
        writes.extend(more);
        apply(store, writes).await
    }

    pub(crate) fn guard(&self, version: i64) -> Guard {
        Guard::Instance { tenant: self.tenant.clone(), id: self.instance.id, version }
    }

    pub(crate) fn moved_on(&self, version: i64) -> Write {
        Write::UpdateInstance(InstanceUpdate {
            id: self.instance.id,
            tenant: self.tenant.clone(),
            status: InstanceStatus::Waiting,
            version,
            open_steps: 1,
            open_incidents: 0,
            error: None,
            context: None,
            updated_at: at(version),
            ended_at: None,
            turns: None,
        })
    }

    pub(crate) fn task(&self, key: &str) -> Task {
        task(&self.step, key)
    }

    pub(crate) fn timer(&self, key: &str, trigger_at: Timestamp) -> Timer {
        Timer {
            id: TimerId::new(),
            tenant: self.tenant.clone(),
            workflow_instance_id: self.instance.id,
            step_execution_id: self.step.id,
            step_id: self.step.step_id.clone(),
            key: key.into(),
            timer_type: "DELAY".into(),
            trigger_at,
            triggered: false,
            triggered_at: None,
            reminder_config: Some(json!({ "channel": "EMAIL" })),
            created_at: T0,
        }
    }

    pub(crate) fn subscription(&self, key: &str, name: &str, correlation: Option<&str>) -> Subscription {
        Subscription {
            id: SubscriptionId::new(),
            tenant: self.tenant.clone(),
            instance_id: self.instance.id,
            step_execution_id: self.step.id,
            key: key.into(),
            name: name.into(),
            correlation: correlation.map(Into::into),
            expires_at: None,
            created_at: T0,
        }
    }

    pub(crate) fn outgoing(&self, ordering_key: &str, due_at: Timestamp) -> OutboxItem {
        OutboxItem {
            id: Uuid::now_v7(),
            tenant: self.tenant.clone(),
            instance_id: self.instance.id,
            step_execution_id: self.step.id,
            ordering_key: ordering_key.into(),
            kind: "publish".into(),
            payload: "{}".into(),
            attempts: 0,
            due_at,
            last_error: None,
            created_at: T0,
        }
    }

    pub(crate) fn event(&self, event: &str) -> InboxEvent {
        InboxEvent {
            id: EventId::new(),
            tenant: self.tenant.clone(),
            instance_id: self.instance.id,
            step_execution_id: self.step.id,
            event: event.into(),
            created_at: T0,
        }
    }

    pub(crate) fn incident(&self) -> Incident {
        Incident {
            id: IncidentId::new(),
            tenant: self.tenant.clone(),
            instance_id: self.instance.id,
            step_execution_id: self.step.id,
            step_id: self.step.step_id.clone(),
            code: "plugin_trap".into(),
            message: "it trapped".into(),
            plugin_digest: Some(Digest::of(b"plugin")),
            event_id: Some(EventId::new()),
            created_at: T0,
            resolved_at: None,
        }
    }

    pub(crate) fn journal(&self, seq: i64) -> JournalEntry {
        JournalEntry {
            id: Uuid::now_v7(),
            tenant: self.tenant.clone(),
            instance_id: self.instance.id,
            subject_id: self.step.id.0,
            seq,
            kind: "event".into(),
            step_id: Some(self.step.step_id.clone()),
            at: at(seq),
            plugin_digest: Some(Digest::of(b"plugin")),
            note: None,
            call: JsonText::parse("{}".into()).ok(),
            answer: None,
            fuel: Some(12_345),
            memory_bytes: None,
        }
    }

    pub(crate) fn blob(&self, body: &str) -> Blob {
        Blob {
            tenant: self.tenant.clone(),
            instance_id: self.instance.id,
            hash: Digest::of(body.as_bytes()),
            body: body.into(),
        }
    }

    /// The instance as a start with an idempotency key, alone.
    pub(crate) fn started_with(&self, key: &str) -> WriteSet {
        let workflow_key = self.instance.workflow_key.clone();
        WriteSet {
            guards: vec![Guard::StartKey {
                tenant: self.tenant.clone(),
                workflow_key: workflow_key.clone(),
                key: key.into(),
            }],
            writes: vec![
                Write::InsertInstance(self.instance.clone()),
                Write::InsertStartKey(StartKey {
                    tenant: self.tenant.clone(),
                    workflow_key,
                    key: key.into(),
                    instance_id: self.instance.id,
                    created_at: T0,
                }),
            ],
            hints: vec![],
        }
    }
}

pub(crate) fn instance(tenant: &TenantId) -> Instance {
    Instance {
        id: InstanceId::new(),
        tenant: tenant.clone(),
        workflow_key: "order".into(),
        workflow_version: 1,
        business_key: Some("order-1".into()),
        status: InstanceStatus::Running,
        version: 1,
        open_steps: 1,
        open_incidents: 0,
        context: json!({ "a": 1 }),
        trigger: json!({ "a": 1 }),
        error: None,
        traceparent: None,
        created_at: T0,
        updated_at: T0,
        ended_at: None,
        turns: None,
    }
}

pub(crate) fn step(instance: &Instance, step_id: &str, attempt: i32) -> StepExecution {
    StepExecution {
        id: StepExecutionId::new(),
        tenant: instance.tenant.clone(),
        instance_id: instance.id,
        step_id: step_id.into(),
        attempt,
        step_type: "EXTERNAL_TASK".into(),
        status: StepStatus::Waiting,
        plugin_digest: Some(Digest::of(b"plugin")),
        config: Some("{}".into()),
        state: Some("{}".into()),
        state_version: 1,
        seq: 1,
        effect_keys: BTreeMap::from([("task".to_owned(), "digest".to_owned())]),
        arrived: 0,
        arrived_live: 0,
        output: None,
        error: None,
        started_at: Some(T0),
        ended_at: None,
    }
}

pub(crate) fn task(step: &StepExecution, key: &str) -> Task {
    Task {
        id: TaskId::new(),
        tenant: step.tenant.clone(),
        workflow_instance_id: step.instance_id,
        step_execution_id: step.id,
        step_id: step.step_id.clone(),
        workflow_key: "order".into(),
        business_key: None,
        key: key.into(),
        task_type: "mail".into(),
        priority: 5,
        input: json!({ "to": "you" }),
        output: None,
        worker_id: None,
        locked_at: None,
        lock_duration_seconds: 300.0,
        lock_expires_at: None,
        lock_token: None,
        last_heartbeat_at: None,
        heartbeat_interval_seconds: None,
        heartbeat_max_missed: 2,
        timeout_seconds: None,
        timeout_at: None,
        completed_at: None,
        status: TaskStatus::Pending,
        retry_count: 0,
        max_retries: 3,
        retry_initial_ms: 1_000,
        retry_factor_percent: 200,
        retry_max_ms: 60_000,
        retry_jitter_percent: 0,
        lock_expiries: 0,
        max_lock_expiries: 10,
        error_message: None,
        error_code: None,
        error_details: None,
        checkpoint: None,
        available_at: T0,
        turn_at: T0,
        due_at: None,
        traceparent: None,
        created_at: T0,
        updated_at: T0,
        version: 1,
    }
}

/// A wish for so many tasks of type `mail`.
pub(crate) fn claim(tenant: &TenantId, now: Timestamp, slots: usize) -> TaskClaim {
    let slot = |number| ClaimSlot {
        worker_id: Some(format!("worker-{number}")),
        lock_token: LockToken::new(),
        lock_ms: None,
    };
    TaskClaim {
        tenant: tenant.clone(),
        task_types: vec!["mail".into()],
        now,
        slots: (0..slots).map(slot).collect(),
    }
}

pub(crate) fn set(guards: Vec<Guard>, writes: Vec<Write>) -> WriteSet {
    WriteSet { guards, writes, hints: vec![] }
}

/// Writes without guards, and insists that it is written.
pub(crate) async fn apply(store: &dyn Store, writes: Vec<Write>) -> Result<()> {
    match store.commit(vec![set(vec![], writes)]).await?.as_slice() {
        [Verdict::Applied] => Ok(()),
        other => bail!("not applied: {other:?}"),
    }
}

/// Commits one transition.
pub(crate) async fn commit_one(store: &dyn Store, set: WriteSet) -> Result<Verdict> {
    let mut verdicts = store.commit(vec![set]).await?;
    match verdicts.pop() {
        Some(verdict) if verdicts.is_empty() => Ok(verdict),
        _ => bail!("a batch of one has one verdict"),
    }
}
