//! An operator offers a dead letter again: the instance that failed with it goes on where it stood.
//!
//! Branches that the failure cancelled have lost their tasks and timers: their steps begin again, in a new attempt.

use std::sync::Arc;

use super::draft::Draft;
use super::mailbox::Taken;
use super::port::{Guard, Write};
use super::task::availability;
use super::{Engine, Error, compensate, decide, give_up, ledger, record};
use crate::domain::StepExecutionId;
use crate::domain::definition::Step;
use crate::domain::instance::InstanceStatus;
use crate::domain::step::{StepExecution, StepStatus};
use crate::domain::task::Task;

/// Takes a dead letter's second life into the draft. The outer error ends the fold; the inner one is the operator's.
pub(super) async fn apply(
    engine: &Engine,
    draft: &mut Draft,
    task: &Task,
    read_version: i64,
) -> Result<Result<Taken, Error>, Error> {
    draft.ensure_all(&*engine.parts.store).await?;
    let held = draft
        .step(&task.step_id)
        .is_some_and(|step| step.id == task.step_execution_id && step.status == StepStatus::Incident);
    // A worker gave it up under Camunda's rules: its incident is over with it.
    if held && matches!(give_up::revive(engine, draft, task, read_version).await?, Taken::Done) {
        record::dead_letter_retried(draft, task);
        return Ok(Ok(Taken::Done));
    }
    let what = format!("task {}", task.id);
    let definition = match failed_step(draft, &task.step_id, task.step_execution_id, &what) {
        Ok(definition) => definition,
        Err(refusal) => return Ok(Err(refusal)),
    };
    draft.guards.push(Guard::Task { tenant: task.tenant.clone(), id: task.id, version: read_version });
    record::dead_letter_retried(draft, task);
    draft.writes.push(Write::UpdateTask(task.clone()));
    let hints = availability(task, draft.now);
    draft.hints.extend(hints);

    let note = format!("goes on: the dead letter of step '{}' is retried", task.step_id);
    let cancelled = instance(draft, &definition, note);
    draft.set_status(&definition, StepStatus::Waiting);
    let step = draft.step_mut(&definition);
    (step.error, step.ended_at) = (None, None);
    ledger::reopen(&mut step.effect_keys, &task.key);
    branches(engine, draft, cancelled).await?;
    Ok(Ok(Taken::Done))
}

/// An instance that failed goes on with a step; the steps that were cancelled with it. If the step undoes another one, it
/// goes on undoing: it will have failed for the same reason.
pub(super) fn instance(draft: &mut Draft, step: &Step, note: String) -> Vec<StepExecution> {
    if compensate::under_way(draft) {
        return Vec::new();
    }
    record::instance_revived(draft, note);
    let undoes = draft.workflow.undoing(&step.id).is_some();
    let cancelled = if undoes { Vec::new() } else { draft.cancelled_steps() };
    let instance = &mut draft.instance;
    instance.error = instance.error.take().filter(|_| undoes);
    (instance.status, instance.ended_at) = (InstanceStatus::Waiting, None);
    (instance.open_steps, instance.open_incidents) = (0, 0);
    cancelled
}

/// Branches that the failure cancelled begin again.
pub(super) async fn branches(
    engine: &Engine,
    draft: &mut Draft,
    cancelled: Vec<StepExecution>,
) -> Result<(), Error> {
    for step in cancelled {
        let Some(definition) = draft.workflow.step(&step.step_id).cloned() else { continue };
        if draft.instance.status.ended() || compensate::under_way(draft) {
            break;
        }
        if step.started_at.is_none() {
            // It had not begun: some of the paths into it are still to come.
            draft.set_status(&definition, StepStatus::Pending);
            draft.step_mut(&definition).ended_at = None;
        } else {
            draft.begin_again(&definition);
            decide::start(engine, draft, &definition).await?;
        }
    }
    Ok(())
}

/// The step that failed with a task or a wait, if that is what ended the instance.
pub(super) fn failed_step(
    draft: &Draft,
    id: &str,
    execution: StepExecutionId,
    what: &str,
) -> Result<Arc<Step>, Error> {
    let settled = |why: String| {
        Error::conflict("dead_letter_settled", format!("{what} cannot be offered again: {why}"))
    };
    let instance = &draft.instance;
    let step = draft.step(id).filter(|step| step.id == execution);
    let (Some(step), Some(definition)) = (step, draft.workflow.step(id)) else {
        return Err(settled(format!("its step '{id}' has been started anew since")));
    };
    if step.status == StepStatus::Incident {
        return Err(settled(format!("its step '{id}' is held by an incident; resume that first")));
    }
    let code = step.error.as_ref().map_or("", |error| error.code.as_str());
    if step.status == StepStatus::Failed && definition.on_error.target(code).is_some() {
        return Err(settled(format!(
            "the onError of step '{id}' has taken the failure; start a new instance"
        )));
    }
    let undoes = draft.workflow.undoing(id).is_some();
    if compensate::has_begun(draft) && !undoes {
        return Err(settled("the instance has begun to undo what it had done; start a new one".into()));
    }
    let over = instance.status == InstanceStatus::Failed || (undoes && compensate::under_way(draft));
    if step.status != StepStatus::Failed || !over {
        let (step, instance) = (step.status.label(), instance.status.label());
        return Err(settled(format!("its step '{id}' is {step}, and the instance is {instance}")));
    }
    Ok(Arc::clone(definition))
}
