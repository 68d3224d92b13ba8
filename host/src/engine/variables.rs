//! Variables of an instance, changed from outside or by a worker's report.

use std::sync::Arc;

use serde_json::Value;

use super::draft::Draft;
use super::mailbox::Taken;
use super::signal::Signal;
use super::{Engine, Error};
use crate::domain::json::canonical_bytes;
use crate::domain::variable::Patch;
use crate::domain::{InstanceId, TenantId};

impl Engine {
    /// Changes variables of an instance that runs.
    pub async fn change_variables(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: InstanceId,
        patch: &Patch,
    ) -> Result<(), Error> {
        if patch.is_empty() {
            return Ok(());
        }
        for _ in 0..self.parts.limits.conflict_attempts_max {
            match self.send(tenant, id, Signal::Variables(patch.clone())).await? {
                Taken::Done | Taken::Already => return Ok(()),
                Taken::Stale => self.refuse_ended(tenant, id).await?,
            }
        }
        Err(self.too_many_conflicts(id))
    }

    async fn refuse_ended(&self, tenant: &TenantId, id: InstanceId) -> Result<(), Error> {
        match self.parts.store.instance(tenant, id).await? {
            Some(instance) if instance.status.ended() => {
                let message = format!("instance {id} is {}", instance.status.label());
                Err(Error::conflict("instance_ended", message))
            }
            _ => Ok(()),
        }
    }
}

/// The context before a change that may turn out to be stale.
pub(super) struct Before(Option<(Value, bool)>);

impl Before {
    pub(super) fn of(draft: &Draft, patch: &Patch) -> Self {
        Self((!patch.is_empty()).then(|| (draft.instance.context.clone(), draft.context_changed)))
    }

    pub(super) fn restore(self, draft: &mut Draft) {
        if let Some(before) = self.0 {
            (draft.instance.context, draft.context_changed) = before;
        }
    }
}

/// Takes a change of variables into the draft, within the limit of a context.
pub(super) fn apply(engine: &Engine, draft: &mut Draft, patch: &Patch) -> Result<Taken, Error> {
    if patch.is_empty() {
        return Ok(Taken::Already);
    }
    let context = patch.applied(&draft.instance.context);
    if context == draft.instance.context {
        return Ok(Taken::Already);
    }
    let (bytes, max) = (canonical_bytes(&context), engine.parts.limits.context_bytes_max);
    if bytes > max {
        let message = format!(
            "with these variables the instance's context would have {bytes} bytes; the limit is {max}. \
             Store big data elsewhere and pass a reference"
        );
        return Err(Error::too_large("context_too_large", message));
    }
    draft.instance.context = context;
    draft.context_changed = true;
    Ok(Taken::Done)
}
