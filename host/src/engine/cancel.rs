//! An operator stops an instance: what is open is closed, in the same transaction.

use std::sync::Arc;

use super::draft::Draft;
use super::mailbox::Taken;
use super::signal::Signal;
use super::{Engine, Error, advance, decide, record};
use crate::domain::event::Event;
use crate::domain::instance::InstanceStatus;
use crate::domain::plugin::{StepCall, StepVerb};
use crate::domain::step::StepStatus;
use crate::domain::transition::Failure;
use crate::domain::{InstanceId, TenantId};

impl Engine {
    /// Cancels an instance. Cancelling it again changes nothing.
    pub async fn cancel(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: InstanceId,
        reason: &str,
    ) -> Result<(), Error> {
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let signal = Signal::Cancel { reason: reason.to_owned() };
            if !matches!(self.send(tenant, id, signal).await?, Taken::Stale) {
                return Ok(());
            }
        }
        Err(self.too_many_conflicts(id))
    }
}

/// Takes a cancellation into the draft.
pub(super) async fn apply(
    engine: &Engine,
    draft: &mut Draft,
    reason: &str,
) -> Result<Result<Taken, Error>, Error> {
    if draft.instance.status == InstanceStatus::Cancelled {
        return Ok(Ok(Taken::Already));
    }
    if draft.instance.status.ended() {
        let status = draft.instance.status.label();
        return Ok(Err(Error::conflict(
            "instance_ended",
            format!("instance {} is {status} and can no longer be cancelled", draft.instance.id),
        )));
    }
    tell_steps(engine, draft, reason).await?;
    let reason = if reason.is_empty() { "cancelled by an operator" } else { reason };
    advance::close_instance(draft, InstanceStatus::Cancelled, Failure::new("cancelled", reason));
    Ok(Ok(Taken::Done))
}

/// Each waiting step's plugin hears of it, for the journal. Its effects do not count, and a fault stops nothing.
async fn tell_steps(engine: &Engine, draft: &mut Draft, reason: &str) -> Result<(), Error> {
    draft.ensure_all(&*engine.parts.store).await?;
    for step in draft.open_steps() {
        let Some(definition) = draft.workflow.step(&step.step_id).cloned() else { continue };
        let (Some(digest), Some(state)) = (step.plugin_digest, step.state) else { continue };
        if step.status != StepStatus::Waiting {
            continue;
        }
        let event = Event::CancelRequested { reason: reason.to_owned() };
        let verb = StepVerb::OnEvent { state, event };
        let call = StepCall { context: decide::context(draft, &definition), verb };
        match engine.parts.plugins.call_step(&digest, &call).await {
            Ok(answer) => {
                if let Ok(mut transition) = answer.result {
                    transition.note.get_or_insert_with(|| "told of the cancellation".into());
                    record::transition(draft, &definition, &digest, &call, &transition, answer.usage);
                }
            }
            Err(fault) => record::fault(draft, &definition, &digest, &call, &fault),
        }
    }
    Ok(())
}
