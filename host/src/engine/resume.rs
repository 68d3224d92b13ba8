//! An operator lets a held step go on, with the component that serves its type now.

use std::sync::Arc;

use super::draft::Draft;
use super::mailbox::Taken;
use super::port::Write;
use super::port::write::{EventDone, IncidentDone};
use super::signal::Signal;
use super::{Engine, Error, decide};
use crate::domain::definition::Step;
use crate::domain::event::Event;
use crate::domain::incident::Incident;
use crate::domain::step::StepStatus;
use crate::domain::{IncidentId, TenantId};

impl Engine {
    /// Runs the held call of an incident again. What queued behind it follows, in order.
    pub async fn resume(self: &Arc<Self>, tenant: &TenantId, id: IncidentId) -> Result<(), Error> {
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let incident = self.parts.store.incident(tenant, id).await?.ok_or_else(|| {
                Error::not_found("incident_not_found", format!("there is no incident {id}"))
            })?;
            if incident.resolved_at.is_some() {
                return Err(Error::conflict(
                    "incident_resolved",
                    format!("incident {id} is resolved already"),
                ));
            }
            let instance = incident.instance_id;
            if matches!(self.send(tenant, instance, Signal::Resume(Box::new(incident))).await?, Taken::Done) {
                return Ok(());
            }
        }
        Err(Error::Busy { code: "instance_busy", message: "the instance keeps changing; try again".into() })
    }
}

/// Takes a resumption into the draft.
pub(super) async fn apply(engine: &Engine, draft: &mut Draft, incident: &Incident) -> Result<Taken, Error> {
    // What this fold keeps for the step, or has resumed, is not in the database yet: look again after it.
    let unsettled = draft.writes.iter().any(|write| match write {
        Write::InsertEvent(event) => event.step_execution_id == incident.step_execution_id,
        Write::ResolveIncident(done) => done.id == incident.id,
        _ => false,
    });
    if unsettled {
        return Ok(Taken::Stale);
    }
    let store = &*engine.parts.store;
    draft.ensure(store, std::slice::from_ref(&incident.step_id)).await?;
    let held = draft
        .step(&incident.step_id)
        .is_some_and(|step| step.id == incident.step_execution_id && step.status == StepStatus::Incident);
    let Some(definition) = draft.workflow.step(&incident.step_id).cloned().filter(|_| held) else {
        return Ok(Taken::Stale);
    };
    draft.writes.push(Write::ResolveIncident(IncidentDone {
        tenant: incident.tenant.clone(),
        id: incident.id,
        at: draft.now,
    }));
    draft.instance.open_incidents -= 1;
    if incident.event_id.is_none() {
        return start_again(engine, draft, &definition).await;
    }
    adopt_component(engine, draft, &definition);
    draft.set_status(&definition, StepStatus::Waiting);
    for kept in store.events(&incident.tenant, incident.step_execution_id).await? {
        let open = draft.step(&definition.id).map(|step| step.status);
        // Held again: what is behind stays in the inbox. Ended: what is behind has no use any more.
        if open == Some(StepStatus::Incident) {
            break;
        }
        let event: Option<Event> = serde_json::from_str(&kept.event).ok();
        if let (Some(event), Some(StepStatus::Waiting)) = (event, open) {
            decide::on_event(engine, draft, &definition, &event, Some(kept.id)).await?;
        }
        let held = draft.step(&definition.id).is_some_and(|step| step.status == StepStatus::Incident);
        if !held {
            draft.writes.push(Write::DeleteEvent(EventDone { tenant: kept.tenant, id: kept.id }));
        }
    }
    Ok(Taken::Done)
}

async fn start_again(engine: &Engine, draft: &mut Draft, definition: &Arc<Step>) -> Result<Taken, Error> {
    draft.set_status(definition, StepStatus::Pending);
    decide::start(engine, draft, definition).await?;
    Ok(Taken::Done)
}

/// A mended component takes over, if it understands the state that the step is in.
fn adopt_component(engine: &Engine, draft: &mut Draft, definition: &Arc<Step>) {
    let Some(serving) = engine.parts.plugins.step_type(&definition.step_type) else { return };
    let step = draft.step_mut(definition);
    if i64::from(step.state_version) == i64::from(serving.descriptor.state_version) {
        step.plugin_digest = Some(serving.digest);
    }
}
