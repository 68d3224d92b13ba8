//! Events reach their step: consumed with what they set off, or kept until the step can go on.

use super::draft::Draft;
use super::mailbox::Taken;
use super::port::write::TimerFired;
use super::port::{Guard, Write};
use super::signal::Origin;
use super::{Engine, Error, deadline, decide, ledger};
use crate::domain::event::{Event, InboxEvent};
use crate::domain::json::canonical;
use crate::domain::step::StepStatus;
use crate::domain::task::Task;
use crate::domain::timer::{Subscription, Timer};
use crate::domain::{EventId, StepExecutionId};

/// A task ended.
pub(super) async fn task_ended(
    engine: &Engine,
    draft: &mut Draft,
    task: &Task,
    read_version: i64,
    event: &Event,
) -> Result<Taken, Error> {
    if draft.withdrew(task.step_execution_id, &task.key) || !draft.tasks_ended.insert(task.id) {
        return Ok(Taken::Stale);
    }
    draft.guards.push(Guard::Task { tenant: task.tenant.clone(), id: task.id, version: read_version });
    draft.writes.push(Write::UpdateTask(task.clone()));
    to_step(engine, draft, &task.step_id, task.step_execution_id, event, Some(&task.key)).await?;
    Ok(Taken::Done)
}

/// A timer is due.
pub(super) async fn timer_due(engine: &Engine, draft: &mut Draft, timer: &Timer) -> Result<Taken, Error> {
    let guard = Guard::Timer { tenant: timer.tenant.clone(), id: timer.id, trigger_at: timer.trigger_at };
    if draft.guards.contains(&guard) || draft.withdrew(timer.step_execution_id, &timer.key) {
        return Ok(Taken::Stale);
    }
    draft.guards.push(guard);
    draft.writes.push(Write::FireTimer(TimerFired {
        id: timer.id,
        tenant: timer.tenant.clone(),
        trigger_at: timer.trigger_at,
        at: draft.now,
    }));
    if timer.key == deadline::KEY {
        draft.fired = Some(timer.id);
        let passed = deadline::passed(engine, draft, timer).await;
        draft.fired = None;
        passed?;
        return Ok(Taken::Done);
    }
    let event = Event::TimerFired { key: timer.key.clone() };
    draft.fired = Some(timer.id);
    let told =
        to_step(engine, draft, &timer.step_id, timer.step_execution_id, &event, Some(&timer.key)).await;
    draft.fired = None;
    told.map(|()| Taken::Done)
}

/// A message matched a subscription, which stays open. One that came out of the outbox is received once.
pub(super) async fn message(
    engine: &Engine,
    draft: &mut Draft,
    subscription: &Subscription,
    event: &Event,
    origin: Option<&Origin>,
) -> Result<Taken, Error> {
    if draft.withdrew(subscription.step_execution_id, &subscription.key) {
        return Ok(Taken::Stale);
    }
    let guard = Guard::Subscription { tenant: subscription.tenant.clone(), id: subscription.id };
    if !draft.guards.contains(&guard) {
        draft.guards.push(guard);
    }
    let Some(step) =
        engine.parts.store.step_execution(&subscription.tenant, subscription.step_execution_id).await?
    else {
        return Ok(Taken::Stale);
    };
    draft.ensure(&*engine.parts.store, std::slice::from_ref(&step.step_id)).await?;
    if let Some(origin) = origin
        && let Some(definition) = draft.workflow.step(&step.step_id).cloned()
        && draft.step(&step.step_id).is_some_and(|current| current.id == step.id)
        && !ledger::receive(&mut draft.step_mut(&definition).effect_keys, origin)
    {
        return Ok(Taken::Already);
    }
    to_step(engine, draft, &step.step_id, step.id, event, None).await?;
    Ok(Taken::Done)
}

/// Gives an event to a step that waits; keeps it if the step is held by an incident.
pub(super) async fn to_step(
    engine: &Engine,
    draft: &mut Draft,
    step_id: &str,
    execution: StepExecutionId,
    event: &Event,
    closes_key: Option<&str>,
) -> Result<(), Error> {
    draft.ensure(&*engine.parts.store, std::slice::from_ref(&step_id.to_owned())).await?;
    let Some(definition) = draft.workflow.step(step_id).cloned() else { return Ok(()) };
    let Some(status) = draft.step(step_id).filter(|step| step.id == execution).map(|step| step.status) else {
        return Ok(());
    };
    if status == StepStatus::Incident {
        keep(draft, execution, event);
        return Ok(());
    }
    // A step that ended before the event came has no use for it.
    if !status.open() {
        return Ok(());
    }
    if let Some(key) = closes_key {
        ledger::close(&mut draft.step_mut(&definition).effect_keys, key);
    }
    decide::on_event(engine, draft, &definition, event, None).await
}

/// Writes an event to the inbox.
pub(super) fn keep(draft: &mut Draft, execution: StepExecutionId, event: &Event) -> EventId {
    let id = EventId::new();
    let text = serde_json::to_value(event).map(|value| canonical(&value)).unwrap_or_default();
    draft.writes.push(Write::InsertEvent(InboxEvent {
        id,
        tenant: draft.instance.tenant.clone(),
        instance_id: draft.instance.id,
        step_execution_id: execution,
        event: text,
        created_at: draft.now,
    }));
    id
}
