//! Deadlines of steps and instances: a timer of the host's own, and what happens when it fires.
//!
//! A step's deadline is in its ledger as an open timer, so the step's end closes it like everything else of the step. An
//! instance's has the instance's id in place of a step's.

use serde_json::{Value, json};

use super::definition::{due_after, template};
use super::draft::Draft;
use super::port::write::StepKey;
use super::port::{Hint, Write};
use super::{Engine, Error, advance, apply, compensate, hold, ledger, record};
use crate::domain::definition::{Deadline, Escalation, Step, Template};
use crate::domain::effect::Effect;
use crate::domain::id::fresh;
use crate::domain::reminder::{Reminder, ReminderStatus};
use crate::domain::step::StepStatus;
use crate::domain::timer::Timer;
use crate::domain::transition::Failure;
use crate::domain::{StepExecutionId, TimerId, Timestamp};

/// The key of a deadline's timer. Keys of plugins' effects do not begin so.
pub(super) const KEY: &str = "\u{1}deadline";
/// What its timer is called.
const TIMER_TYPE: &str = "DEADLINE";

/// When a deadline is, from what its template has become; or a sentence that begins with the field.
pub(super) fn due(after: &Value, now: Timestamp) -> Result<Timestamp, String> {
    due_after(after, now.millis()).map(Timestamp::from_millis).map_err(|why| format!("deadline.after: {why}"))
}

/// Sets the timer of a step that has begun, and of which something is still open.
pub(super) fn of_step(draft: &mut Draft, definition: &Step, at: Timestamp) {
    let Some(arc) = draft.workflow.step(&definition.id).cloned() else { return };
    if !draft.step(&definition.id).is_some_and(|step| step.status.open()) {
        return;
    }
    let step = draft.step_mut(&arc);
    ledger::open_timer(&mut step.effect_keys, KEY);
    let execution = step.id;
    set(draft, execution, definition.id.clone(), at);
}

/// Sets the timer of an instance that has begun.
pub(super) fn of_instance(draft: &mut Draft, max_bytes: usize) -> Result<(), Error> {
    let Some(Deadline { after, .. }) = draft.workflow.deadline.clone() else { return Ok(()) };
    if draft.instance.status.ended() {
        return Ok(());
    }
    let at = resolve(draft, &after, max_bytes)
        .map_err(|error| format!("deadline.after: {error}"))
        .and_then(|after| due(&after, draft.now));
    let at =
        at.map_err(|why| Error::unprocessable("config_invalid", format!("{why}; nothing was started")))?;
    let execution = StepExecutionId(draft.instance.id.0);
    set(draft, execution, String::new(), at);
    Ok(())
}

/// An instance ends: its own timer goes with it.
pub(super) fn withdraw(draft: &mut Draft) {
    if draft.workflow.deadline.is_some() {
        draft.writes.push(Write::CancelTimer(StepKey {
            tenant: draft.instance.tenant.clone(),
            step_execution_id: StepExecutionId(draft.instance.id.0),
            key: KEY.into(),
            at: draft.now,
        }));
    }
}

fn resolve(draft: &Draft, template: &Template, max_bytes: usize) -> Result<Value, template::TemplateError> {
    let nothing = std::collections::HashMap::new();
    let instance = &draft.instance;
    let scope = template::Scope {
        context: &instance.context,
        trigger: &instance.trigger,
        variables: &draft.workflow.variables,
        execution: &template::execution(instance, None),
        outputs: &nothing,
        errors: &nothing,
        // A secret is for requests.
        secrets: &Value::Null,
    };
    template::resolve(template, &scope, max_bytes)
}

fn set(draft: &mut Draft, execution: StepExecutionId, step_id: String, at: Timestamp) {
    draft.hints.push(Hint::Due { at });
    draft.writes.push(Write::UpsertTimer(Timer {
        id: TimerId::new(),
        tenant: draft.instance.tenant.clone(),
        workflow_instance_id: draft.instance.id,
        step_execution_id: execution,
        step_id,
        key: KEY.into(),
        timer_type: TIMER_TYPE.into(),
        trigger_at: at,
        triggered: false,
        triggered_at: None,
        reminder_config: None,
        created_at: draft.now,
    }));
}

/// A deadline has passed.
pub(super) async fn passed(engine: &Engine, draft: &mut Draft, timer: &Timer) -> Result<(), Error> {
    if timer.step_execution_id.0 == draft.instance.id.0 {
        let Some(deadline) = draft.workflow.deadline.clone() else { return Ok(()) };
        // Its last step has ended in the same fold: it is in time. And one that fails has no deadline for undoing.
        if draft.instance.open_steps == 0 || compensate::under_way(draft) {
            return Ok(());
        }
        match deadline.escalation {
            Escalation::Error(code) => {
                let failure = Failure::new(&code, format!("the instance was to end by {}", timer.trigger_at));
                advance::fail_instance(draft, failure);
            }
            Escalation::Event(name) => publish(draft, timer, name),
            Escalation::Remind(note) => remind(engine, draft, timer, &note),
        }
        return Ok(());
    }
    draft.ensure(&*engine.parts.store, std::slice::from_ref(&timer.step_id)).await?;
    let Some(definition) = draft.workflow.step(&timer.step_id).cloned() else { return Ok(()) };
    let step = draft.step(&timer.step_id).filter(|step| step.id == timer.step_execution_id);
    let Some(status) = step.map(|step| step.status).filter(|status| status.open()) else { return Ok(()) };
    let Some(deadline) = definition.deadline.clone() else { return Ok(()) };
    ledger::close(&mut draft.step_mut(&definition).effect_keys, KEY);
    match deadline.escalation {
        Escalation::Error(code) => {
            if status == StepStatus::Incident {
                hold::release(engine, draft, timer.step_execution_id).await?;
            }
            let failure = Failure::new(&code, format!("the step was to end by {}", timer.trigger_at));
            record::deadline(draft, &definition, format!("failed: {code}: the deadline has passed"));
            advance::fail_step(draft, &definition, failure);
        }
        Escalation::Event(name) => {
            record::deadline(draft, &definition, format!("the deadline has passed: {name} is published"));
            publish(draft, timer, name);
        }
        Escalation::Remind(note) => {
            record::deadline(draft, &definition, "the deadline has passed: people are told".into());
            remind(engine, draft, timer, &note);
        }
    }
    Ok(())
}

/// Tells people. What its templates have become may be no note: then that is what is kept, and all goes on.
fn remind(engine: &Engine, draft: &mut Draft, timer: &Timer, note: &Template) {
    let max_bytes = engine.parts.limits.template_bytes_max;
    let read = resolve(draft, note, max_bytes)
        .map_err(|why| why.to_string())
        .and_then(|note| stepwell_notice::read(&note, draft.now.millis()))
        .and_then(|note| note.ok_or_else(|| "a part of it is null".to_owned()));
    match read {
        Ok(notice) => {
            let mut origin = apply::origin(draft, &timer.step_id, None);
            origin["deadline"] = json!(timer.trigger_at);
            let effect = Effect::Notify {
                key: "deadline".into(),
                channel: notice.channel.label().into(),
                recipients: notice.recipients,
                subject: notice.subject,
                message: notice.message,
                extra: json!({ "sender": notice.sender, "retry": notice.retry, "origin": origin }),
            };
            apply::send(draft, timer.step_execution_id, &effect);
        }
        Err(why) => draft.writes.push(Write::InsertReminder(Reminder {
            id: fresh(),
            tenant: timer.tenant.clone(),
            timer_id: Some(timer.id),
            workflow_instance_id: timer.workflow_instance_id,
            step_execution_id: timer.step_execution_id,
            step_id: timer.step_id.clone(),
            key: "deadline".into(),
            attempt: 0,
            sender: None,
            channel: String::new(),
            recipients: Vec::new(),
            message: String::new(),
            sent_at: draft.now,
            status: ReminderStatus::Failed,
            error_message: Some(format!("deadline.remind: {why}")),
            created_at: draft.now,
        })),
    }
}

/// Tells whoever waits for it, by the business key, or else the instance's id.
fn publish(draft: &mut Draft, timer: &Timer, name: String) {
    let instance = &draft.instance;
    let step = Some(&timer.step_id).filter(|id| !id.is_empty());
    let effect = Effect::Publish {
        key: KEY.into(),
        name,
        correlation: Some(instance.business_key.clone().unwrap_or_else(|| instance.id.to_string())),
        payload: json!({
            "workflow": instance.workflow_key, "instance": instance.id, "businessKey": instance.business_key,
            "step": step, "deadline": timer.trigger_at,
        }),
        headers: Vec::new(),
    };
    apply::send(draft, timer.step_execution_id, &effect);
}
