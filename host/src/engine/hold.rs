//! An incident holds a step: its state is unchanged, its event is kept, an operator can resume it.

use std::sync::Arc;

use super::draft::Draft;
use super::port::Write;
use super::port::write::IncidentDone;
use super::{Engine, Error, Parts, deliver};
use crate::domain::definition::Step;
use crate::domain::event::Event;
use crate::domain::incident::Incident;
use crate::domain::page::PageRequest;
use crate::domain::plugin::Fault;
use crate::domain::step::StepStatus;
use crate::domain::{EventId, IncidentId, StepExecutionId};

/// Holds a step. `event` is what was being consumed; `kept` its place in the inbox, if it has one already.
pub(super) fn step(
    draft: &mut Draft,
    definition: &Arc<Step>,
    fault: &Fault,
    event: Option<&Event>,
    kept: Option<EventId>,
) {
    let (execution, digest) = {
        let step = draft.step_mut(definition);
        (step.id, step.plugin_digest.clone())
    };
    let event_id = match (event, kept) {
        (Some(event), None) => Some(deliver::keep(draft, execution, event)),
        (_, kept) => kept,
    };
    tracing::warn!(
        tenant = %draft.instance.tenant, instance = %draft.instance.id, step = %definition.id,
        code = fault.code, "incident: {}", fault.message
    );
    draft.writes.push(Write::InsertIncident(Incident {
        id: IncidentId::new(),
        tenant: draft.instance.tenant.clone(),
        instance_id: draft.instance.id,
        step_execution_id: execution,
        step_id: definition.id.clone(),
        code: fault.code.to_owned(),
        message: fault.message.clone(),
        plugin_digest: digest,
        event_id,
        created_at: draft.now,
        resolved_at: None,
    }));
    draft.instance.open_incidents += 1;
    draft.set_status(definition, StepStatus::Incident);
}

/// A step that ends while it is held has no use for its incident, be that written down or not yet.
pub(super) async fn release(
    engine: &Engine,
    draft: &mut Draft,
    execution: StepExecutionId,
) -> Result<(), Error> {
    let at = draft.now;
    for write in &mut draft.writes {
        if let Write::InsertIncident(incident) = write
            && incident.step_execution_id == execution
            && incident.resolved_at.is_none()
        {
            incident.resolved_at = Some(at);
            draft.instance.open_incidents -= 1;
            return Ok(());
        }
    }
    // A step has one open incident at most.
    let limit = u32::try_from(draft.workflow.steps.len()).unwrap_or(u32::MAX);
    let (tenant, id) = (draft.instance.tenant.clone(), draft.instance.id);
    let page = PageRequest { after: None, limit };
    for incident in engine.parts.store.incidents(&tenant, Some(id), true, &page).await? {
        if incident.step_execution_id == execution {
            let done = IncidentDone { tenant: tenant.clone(), id: incident.id, at };
            draft.writes.push(Write::ResolveIncident(done));
            draft.instance.open_incidents -= 1;
        }
    }
    Ok(())
}

/// The fault of a step type that nobody serves here.
pub(super) fn missing_type(parts: &Parts, name: &str) -> Fault {
    Fault {
        code: "plugin_missing",
        message: format!(
            "no plugin serves the type '{name}' on this host; add its component, then resume. Known types: {}",
            parts.plugins.step_type_names().join(", ")
        ),
        transient: false,
    }
}
