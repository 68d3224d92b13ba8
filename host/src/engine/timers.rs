//! What an operator does with a timer: fire it now, move it, withdraw it.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;

use super::draft::Draft;
use super::mailbox::Taken;
use super::port::time::Owner;
use super::port::write::StepKey;
use super::port::{Guard, Hint, Verdict, Write, WriteSet};
use super::recent::Snapshot;
use super::signal::Signal;
use super::{Engine, Error, deadline, deliver};
use crate::domain::event::Event;
use crate::domain::timer::Timer;
use crate::domain::{InstanceId, TenantId, TimerId, Timestamp};

/// The custom event of a timer that was withdrawn, sent to steps whose descriptor's `accepts` lists it.
const CANCELLED: &str = "timer-cancelled";

impl Engine {
    /// Reads what timers need to fire, all at once, where this host does not remember it: one by one, ten thousand that
    /// are due together would be twenty thousand reads. What cannot be read now, each reads for itself.
    pub async fn expect_timers(&self, timers: &[Timer]) {
        let owner = |timer: &Timer| Owner {
            tenant: timer.tenant.clone(),
            workflow_instance_id: timer.workflow_instance_id,
            step_id: timer.step_id.clone(),
        };
        self.expect(timers.iter().map(owner)).await;
    }

    /// The same for steps that something else is about to happen to.
    pub(super) async fn expect(&self, owners: impl Iterator<Item = Owner>) {
        let unknown = |owner: &Owner| !self.recent.has_instance(owner.workflow_instance_id);
        let owners: Vec<Owner> = owners.filter(unknown).collect();
        if owners.len() < 2 {
            return;
        }
        let store = &self.parts.store;
        // The instance first: a step that changes in between has raised its instance's version, and the guard tells.
        let Ok(instances) = store.instances_of_steps(&owners).await else { return };
        let Ok(steps) = store.executions_of_steps(&owners).await else { return };
        let mut snapshots: HashMap<InstanceId, Snapshot> = instances
            .into_iter()
            .map(|instance| {
                let (steps, known) = Default::default();
                (instance.id, Snapshot { instance, steps, known, whole: false })
            })
            .collect();
        for owner in &owners {
            if let Some(snapshot) = snapshots.get_mut(&owner.workflow_instance_id) {
                snapshot.known.insert(owner.step_id.clone());
            }
        }
        for step in steps {
            if let Some(snapshot) = snapshots.get_mut(&step.instance_id) {
                snapshot.steps.insert(step.step_id.clone(), step);
            }
        }
        snapshots.into_values().for_each(|snapshot| self.recent.keep_instance(snapshot));
    }

    /// Fires a timer before its time.
    pub async fn fire_timer(self: &Arc<Self>, tenant: &TenantId, id: TimerId) -> Result<(), Error> {
        self.signal_timer(tenant, id, |timer| Signal::TimerDue(Box::new(timer))).await
    }

    /// Withdraws a timer. A step that waits for nothing else is told, if it wants to know; else it waits on.
    pub async fn cancel_timer(self: &Arc<Self>, tenant: &TenantId, id: TimerId) -> Result<(), Error> {
        self.signal_timer(tenant, id, |timer| Signal::TimerCancelled(Box::new(timer))).await
    }

    /// Moves a timer.
    pub async fn move_timer(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TimerId,
        trigger_at: Timestamp,
    ) -> Result<Timer, Error> {
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let timer = self.open_timer(tenant, id).await?;
            let guard = Guard::Timer { tenant: tenant.clone(), id, trigger_at: timer.trigger_at };
            let moved = Timer { trigger_at, ..timer };
            let set = WriteSet {
                guards: vec![guard],
                writes: vec![Write::UpsertTimer(moved.clone())],
                hints: vec![Hint::Due { at: trigger_at }],
            };
            match self.committer.commit(set).await? {
                Verdict::Applied => return Ok(moved),
                Verdict::Refused(reason) => return Err(Error::unprocessable("data_refused", reason)),
                Verdict::Conflict | Verdict::Started(_) => {}
            }
        }
        Err(busy(id))
    }

    async fn signal_timer(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TimerId,
        signal: impl Fn(Timer) -> Signal,
    ) -> Result<(), Error> {
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let timer = self.open_timer(tenant, id).await?;
            let instance = timer.workflow_instance_id;
            if !matches!(self.send(tenant, instance, signal(timer)).await?, Taken::Stale) {
                return Ok(());
            }
        }
        Err(busy(id))
    }

    async fn open_timer(&self, tenant: &TenantId, id: TimerId) -> Result<Timer, Error> {
        let timer = self.parts.store.timer(tenant, id).await?.ok_or_else(|| {
            let message = format!("there is no timer {id}; it was withdrawn, or its step has ended");
            Error::not_found("timer_not_found", message)
        })?;
        if timer.triggered {
            return Err(Error::conflict("timer_fired", format!("timer {id} has fired already")));
        }
        Ok(timer)
    }
}

/// Takes a withdrawal into the draft.
pub(super) async fn cancelled(engine: &Engine, draft: &mut Draft, timer: &Timer) -> Result<Taken, Error> {
    let guard = Guard::Timer { tenant: timer.tenant.clone(), id: timer.id, trigger_at: timer.trigger_at };
    if draft.guards.contains(&guard) || draft.withdrew(timer.step_execution_id, &timer.key) {
        return Ok(Taken::Stale);
    }
    draft.guards.push(guard);
    draft.writes.push(Write::CancelTimer(StepKey {
        tenant: timer.tenant.clone(),
        step_execution_id: timer.step_execution_id,
        key: timer.key.clone(),
        at: draft.now,
    }));
    // A deadline is the host's own: the step knows nothing of it.
    if timer.key == deadline::KEY {
        return Ok(Taken::Done);
    }
    let step_type = draft.workflow.step(&timer.step_id).map(|step| step.step_type.clone());
    let serving = step_type.and_then(|step_type| engine.parts.plugins.step_type(&step_type));
    if serving.is_some_and(|serving| serving.descriptor.accepts.iter().any(|kind| kind == CANCELLED)) {
        let payload = json!({ "key": timer.key });
        let event = Event::Custom { custom_kind: CANCELLED.into(), payload };
        deliver::to_step(engine, draft, &timer.step_id, timer.step_execution_id, &event, Some(&timer.key))
            .await?;
    }
    Ok(Taken::Done)
}

fn busy(id: TimerId) -> Error {
    Error::Busy { code: "timer_busy", message: format!("timer {id} keeps changing; try again") }
}
