//! An instance that fails undoes what it has done: the steps that `compensate` names run one after the other, for what
//! ended last first, and only then has it failed.
//!
//! What is still open when it begins is stopped: it has not been done, so there is nothing to undo. How far it has come
//! is told by the rows of the steps alone, so any host goes on with it.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use super::draft::Draft;
use super::port::Write;
use super::port::write::StepClosed;
use super::{Engine, Error, advance, decide, hold, record};
use crate::domain::definition::{Step, Workflow};
use crate::domain::instance::InstanceStatus;
use crate::domain::step::{StepExecution, StepStatus};
use crate::domain::transition::Failure;
use crate::domain::{StepExecutionId, TenantId};

impl Engine {
    /// Whether a step was stopped before it could end: what it has not sent yet shall not be sent.
    pub async fn step_was_stopped(&self, tenant: &TenantId, id: StepExecutionId) -> Result<bool, Error> {
        let step = self.parts.store.step_execution(tenant, id).await?;
        Ok(step.is_some_and(|step| step.status == StepStatus::Cancelled))
    }
}

/// Whether an instance is about to fail and undoes what it has done.
pub(super) fn under_way(draft: &Draft) -> bool {
    draft.instance.error.is_some() && !draft.instance.status.ended()
}

/// An instance is to fail for a reason. One that undoes already keeps its first reason.
pub(super) fn begin(draft: &mut Draft, failure: Failure) {
    draft.instance.error.get_or_insert(failure);
}

/// Stops what is open, then undoes until a step waits or nothing is left to undo.
pub(super) async fn go_on(engine: &Engine, draft: &mut Draft) -> Result<(), Error> {
    draft.ensure_all(&*engine.parts.store).await?;
    stop_others(engine, draft).await?;
    while !draft.open_steps().iter().any(|step| draft.workflow.undoing(&step.step_id).is_some()) {
        let Some((done, undoes)) = next(draft) else {
            let failure = draft.instance.error.take().unwrap_or_else(|| Failure::new("failed", ""));
            advance::close_instance(draft, InstanceStatus::Failed, failure);
            break;
        };
        record::compensation(draft, &done, format!("the instance fails: '{}' undoes this step", undoes.id));
        decide::start(engine, draft, &undoes).await?;
    }
    draft.ready.clear();
    draft.arrivals.clear();
    draft.watchers.clear();
    Ok(())
}

/// Whether any step has begun to undo another one. All of them must have been ensured.
pub(super) fn has_begun(draft: &Draft) -> bool {
    let undoing = draft.workflow.steps.iter().filter_map(|step| step.compensate.as_ref());
    undoing.filter_map(|id| draft.step(id)).any(|step| step.started_at.is_some())
}

async fn stop_others(engine: &Engine, draft: &mut Draft) -> Result<(), Error> {
    for StepExecution { id, step_id, status, .. } in draft.open_steps() {
        let Some(definition) = draft.workflow.step(&step_id).cloned() else { continue };
        if draft.workflow.undoing(&step_id).is_some() {
            continue;
        }
        if status == StepStatus::Incident {
            hold::release(engine, draft, id).await?;
        }
        draft.set_status(&definition, StepStatus::Cancelled);
        let (tenant, at) = (draft.instance.tenant.clone(), draft.now);
        draft.writes.push(Write::CloseStep(StepClosed { tenant, step_execution_id: id, at }));
    }
    Ok(())
}

/// The step that is undone next, and the one that does it: of those that nothing builds on any more the one that ended
/// last. A clock that was set back does not turn the order of the graph round.
fn next(draft: &Draft) -> Option<(Arc<Step>, Arc<Step>)> {
    let workflow = &draft.workflow;
    let undone = |id: &str| draft.step(id).is_some_and(|step| step.status != StepStatus::Pending);
    let rows = workflow.steps.iter().enumerate().filter_map(|(at, done)| {
        let undoes = done.compensate.as_deref().filter(|id| !undone(id))?;
        let row = draft.step(&done.id).filter(|row| row.status == StepStatus::Completed)?;
        Some(((row.ended_at, at), done, undoes))
    });
    let mut left: Vec<_> = rows.collect();
    left.sort_by_key(|(ended, ..)| Reverse(*ended));
    let ids: HashSet<&str> = left.iter().map(|(_, done, _)| done.id.as_str()).collect();
    let (_, done, undoes) = left.iter().find(|(_, done, _)| !leads_to_any(workflow, done, &ids))?;
    Some((Arc::clone(done), Arc::clone(workflow.step(undoes)?)))
}

/// Whether a path leads from a step to one of some others.
fn leads_to_any(workflow: &Workflow, from: &Step, others: &HashSet<&str>) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![from];
    while let Some(step) = open.pop() {
        let after = step.successors.iter().map(String::as_str).chain(step.on_error.steps());
        for id in after.filter(|id| seen.insert((*id).to_owned())) {
            if others.contains(id) {
                return true;
            }
            open.extend(workflow.step(id).map(Arc::as_ref));
        }
    }
    false
}
