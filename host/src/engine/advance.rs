//! A step ended: its paths go on.
//!
//! Every edge of the graph is followed exactly once, alive or dead. A step begins when all paths into it have
//! ended and at least one is alive; if all are dead it is skipped, and the paths out of it are dead too. So a
//! join is a count on its own row, and siblings are never loaded.

use std::sync::Arc;

use serde_json::Value;

use super::draft::Draft;
use super::port::Write;
use super::port::write::{InstanceClosed, StepClosed};
use super::{Engine, Error, compensate, decide, ledger, until};
use crate::domain::definition::{ErrorTarget, Step};
use crate::domain::instance::InstanceStatus;
use crate::domain::step::StepStatus;
use crate::domain::transition::{BUSINESS_ERROR, Failure};

/// Starts whatever is ready, and what that sets off, until all of it waits or has ended.
pub(super) async fn run(engine: &Engine, draft: &mut Draft) -> Result<(), Error> {
    loop {
        if draft.instance.status.ended() {
            draft.ready.clear();
            draft.watchers.clear();
            return Ok(());
        }
        if compensate::under_way(draft) {
            return compensate::go_on(engine, draft).await;
        }
        if let Some(id) = draft.ready.pop_front() {
            let Some(definition) = draft.workflow.step(&id).cloned() else { continue };
            arrive(engine, draft, &definition).await?;
        } else if let Some((watcher, ended)) = draft.watchers.pop_front() {
            until::tell(engine, draft, &watcher, &ended).await?;
        } else {
            return Ok(());
        }
    }
}

/// A step ended well.
pub(super) fn complete_step(draft: &mut Draft, definition: &Arc<Step>, output: Value) {
    draft.step_mut(definition).output = Some(output);
    end(draft, definition, StepStatus::Completed);
    for id in &definition.successors {
        path(draft, id, true);
    }
    for id in definition.on_error.steps() {
        path(draft, id, false);
    }
}

/// A step failed: the error goes where `onError` says, or the instance fails.
pub(super) fn fail_step(draft: &mut Draft, definition: &Arc<Step>, failure: Failure) {
    let target = definition.on_error.target(&failure.code).cloned().or_else(|| unhandled(&failure));
    draft.step_mut(definition).error = Some(failure.clone());
    end(draft, definition, StepStatus::Failed);
    let Some(target) = target else {
        fail_instance(draft, failure);
        return;
    };
    for id in &definition.successors {
        path(draft, id, false);
    }
    for id in definition.on_error.steps() {
        path(draft, id, target == ErrorTarget::Step(id.to_owned()));
    }
}

/// A business error that nobody handles ends its path and fails nothing, as Camunda has it.
fn unhandled(failure: &Failure) -> Option<ErrorTarget> {
    (failure.details.get(BUSINESS_ERROR) == Some(&Value::Bool(true))).then_some(ErrorTarget::End)
}

/// Ends an instance before all of its steps have: what is open is closed.
pub(super) fn close_instance(draft: &mut Draft, status: InstanceStatus, failure: Failure) {
    let instance = &mut draft.instance;
    instance.status = status;
    instance.error = Some(failure);
    instance.ended_at = Some(draft.now);
    instance.open_steps = 0;
    instance.open_incidents = 0;
    draft.ready.clear();
    draft.writes.push(Write::CloseInstance(InstanceClosed {
        tenant: instance.tenant.clone(),
        instance_id: instance.id,
        at: draft.now,
    }));
}

/// An instance fails: at once, or when it has undone what is to be undone.
pub(super) fn fail_instance(draft: &mut Draft, failure: Failure) {
    if draft.workflow.compensates() {
        compensate::begin(draft, failure);
    } else {
        close_instance(draft, InstanceStatus::Failed, failure);
    }
}

fn end(draft: &mut Draft, definition: &Arc<Step>, status: StepStatus) {
    draft.set_status(definition, status);
    let (tenant, at) = (draft.instance.tenant.clone(), draft.now);
    let step = draft.step_mut(definition);
    if ledger::has_open(&step.effect_keys) {
        let step_execution_id = step.id;
        draft.writes.push(Write::CloseStep(StepClosed { tenant, step_execution_id, at }));
    }
    until::ended(draft, definition);
}

/// A path into a step has ended. Arrivals are counted when the step's row is at hand.
fn path(draft: &mut Draft, id: &str, alive: bool) {
    draft.arrivals.push((id.to_owned(), alive));
    draft.ready.push_back(id.to_owned());
}

/// Counts the arrivals at a step; starts or skips it when they are complete.
async fn arrive(engine: &Engine, draft: &mut Draft, definition: &Arc<Step>) -> Result<(), Error> {
    draft.ensure(&*engine.parts.store, std::slice::from_ref(&definition.id)).await?;
    let arrivals: Vec<bool> = draft.take_arrivals(&definition.id);
    let step = draft.step_mut(definition);
    for alive in &arrivals {
        step.arrived += 1;
        step.arrived_live += i32::from(*alive);
    }
    if step.status != StepStatus::Pending || step.arrived < definition.incoming {
        return Ok(());
    }
    if step.arrived_live > 0 || definition.incoming == 0 {
        return decide::start(engine, draft, definition).await;
    }
    draft.set_status(definition, StepStatus::Skipped);
    until::ended(draft, definition);
    for id in &definition.successors {
        path(draft, id, false);
    }
    for id in definition.on_error.steps() {
        path(draft, id, false);
    }
    Ok(())
}
