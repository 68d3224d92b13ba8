//! A worker gives a task up, and an operator gives it more attempts: Camunda's incident of a failed external task.
//!
//! Until then the step is held as by a plugin's fault. Resuming the incident accepts the failure: the event that was
//! kept goes to the step, and so to `onError`.

use super::draft::Draft;
use super::mailbox::Taken;
use super::port::write::{EventDone, IncidentDone};
use super::port::{Guard, Hint, Write};
use super::{Engine, Error, deliver, hold};
use crate::domain::event::Event;
use crate::domain::page::PageRequest;
use crate::domain::plugin::Fault;
use crate::domain::step::StepStatus;
use crate::domain::task::Task;

/// The incident's code, which is Camunda's word for it.
pub(super) const GIVEN_UP: &str = "failedExternalTask";
/// Open incidents of one instance that are looked through.
const INCIDENTS_MAX: u32 = 500;

/// Holds the step of a task that was given up.
pub(super) async fn hold(
    engine: &Engine,
    draft: &mut Draft,
    task: &Task,
    read_version: i64,
    event: &Event,
) -> Result<Taken, Error> {
    if draft.withdrew(task.step_execution_id, &task.key) || !draft.tasks_ended.insert(task.id) {
        return Ok(Taken::Stale);
    }
    draft.ensure(&*engine.parts.store, std::slice::from_ref(&task.step_id)).await?;
    let status = draft.step(&task.step_id).filter(|step| step.id == task.step_execution_id).map(|s| s.status);
    let (Some(definition), Some(status)) = (draft.workflow.step(&task.step_id).cloned(), status) else {
        return Ok(Taken::Stale);
    };
    if !status.open() {
        return Ok(Taken::Stale);
    }
    write(draft, task, read_version);
    if status == StepStatus::Incident {
        deliver::keep(draft, task.step_execution_id, event);
        return Ok(Taken::Done);
    }
    let message = task.error_message.clone().unwrap_or_default();
    let fault = Fault { code: GIVEN_UP, message, transient: false };
    hold::step(draft, &definition, &fault, Some(event), None);
    Ok(Taken::Done)
}

/// Offers a task again that was given up: its incident is over, and the event is forgotten.
pub(super) async fn revive(
    engine: &Engine,
    draft: &mut Draft,
    task: &Task,
    read_version: i64,
) -> Result<Taken, Error> {
    let execution = task.step_execution_id;
    // What this fold keeps for the step, or has resolved, is not in the database yet: look again after it.
    let unsettled = draft.writes.iter().any(|write| match write {
        Write::InsertEvent(event) => event.step_execution_id == execution,
        Write::ResolveIncident(_) => true,
        _ => false,
    });
    if unsettled || !draft.tasks_ended.insert(task.id) {
        return Ok(Taken::Stale);
    }
    let store = &*engine.parts.store;
    let tenant = draft.instance.tenant.clone();
    draft.ensure(store, std::slice::from_ref(&task.step_id)).await?;
    let Some(definition) = draft.workflow.step(&task.step_id).cloned() else { return Ok(Taken::Stale) };
    let held = store.events(&tenant, execution).await?.into_iter().find(|kept| {
        let event: Option<Event> = serde_json::from_str(&kept.event).ok();
        matches!(event, Some(Event::TaskFailed { key, .. }) if key == task.key)
    });
    let Some(held) = held else { return Ok(Taken::Stale) };
    let page = PageRequest { after: None, limit: INCIDENTS_MAX };
    let open = store.incidents(&tenant, Some(draft.instance.id), true, &page).await?;
    if let Some(incident) = open.into_iter().find(|incident| incident.event_id == Some(held.id)) {
        let done = IncidentDone { tenant: tenant.clone(), id: incident.id, at: draft.now };
        draft.writes.push(Write::ResolveIncident(done));
        draft.instance.open_incidents -= 1;
        draft.set_status(&definition, StepStatus::Waiting);
    }
    draft.writes.push(Write::DeleteEvent(EventDone { tenant, id: held.id }));
    write(draft, task, read_version);
    draft.hints.push(Hint::Tasks {
        tenant: task.tenant.clone(),
        task_type: task.task_type.clone(),
        count: 1,
    });
    Ok(Taken::Done)
}

fn write(draft: &mut Draft, task: &Task, read_version: i64) {
    draft.guards.push(Guard::Task { tenant: task.tenant.clone(), id: task.id, version: read_version });
    draft.hints.extend(task.due_at.map(|at| Hint::Due { at }));
    draft.writes.push(Write::UpdateTask(task.clone()));
}
