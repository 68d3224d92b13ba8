//! What left the host is over: its item goes, and its step is told, in one commit.

use std::sync::Arc;

use uuid::Uuid;

use super::draft::Draft;
use super::mailbox::Taken;
use super::port::write::{DeadItem, OutboxDone};
use super::port::{Guard, Hint, Verdict, Write, WriteSet};
use super::signal::Signal;
use super::{Engine, Error, deliver};
use crate::domain::TenantId;
use crate::domain::event::Event;
use crate::domain::timer::OutboxItem;

/// Tries to tell a step that is busy; after them the item is sent again when its lease has run out.
const TELL_ATTEMPTS_MAX: u32 = 8;

impl Engine {
    /// Removes an item of the outbox, writes what is known of it, and tells its step.
    pub async fn sent(
        self: &Arc<Self>,
        item: &OutboxItem,
        event: Option<Event>,
        more: Vec<Write>,
    ) -> Result<(), Error> {
        let Some(event) = event else { return self.forget(item, more).await };
        for _ in 0..TELL_ATTEMPTS_MAX {
            let signal = Signal::Sent {
                item: Box::new(item.clone()),
                event: Box::new(event.clone()),
                more: more.clone(),
            };
            match self.send(&item.tenant, item.instance_id, signal).await {
                Ok(Taken::Done | Taken::Already) => return Ok(()),
                Ok(Taken::Stale) => {}
                Err(Error::NotFound { .. }) => return self.forget(item, more).await,
                Err(error) => return Err(error),
            }
            // An instance that has ended has no use for it.
            let instance = self.parts.store.instance(&item.tenant, item.instance_id).await?;
            if instance.is_none_or(|instance| instance.status.ended()) {
                return self.forget(item, more).await;
            }
        }
        Err(self.too_many_conflicts(item.instance_id))
    }

    /// Puts an item off, as it says itself; false if it is gone: another host was quicker.
    pub async fn put_off(&self, item: OutboxItem, mut writes: Vec<Write>) -> Result<bool, Error> {
        let (guards, hints) = (vec![guard(&item)], vec![Hint::Due { at: item.due_at }]);
        writes.push(Write::UpdateOutbox(item));
        match self.committer.commit(WriteSet { guards, writes, hints }).await? {
            Verdict::Refused(reason) => Err(Error::unprocessable("data_refused", reason)),
            verdict => Ok(verdict == Verdict::Applied),
        }
    }

    /// Sends a dead letter again, as if it had not been tried.
    pub async fn retry_dead_item(&self, tenant: &TenantId, id: Uuid) -> Result<(), Error> {
        let DeadItem { item, .. } = self.dead_item(tenant, id).await?;
        let now = self.parts.clock.now();
        let writes = vec![
            Write::InsertOutbox(OutboxItem { attempts: 0, due_at: now, ..item }),
            Write::DeleteDead(OutboxDone { tenant: tenant.clone(), id }),
        ];
        let set = WriteSet { writes, hints: vec![Hint::Due { at: now }], ..WriteSet::default() };
        match self.committer.commit(set).await? {
            // Somebody else was quicker.
            Verdict::Refused(_) => Err(no_dead_item(id)),
            _ => Ok(()),
        }
    }

    /// Forgets a dead letter.
    pub async fn discard_dead_item(&self, tenant: &TenantId, id: Uuid) -> Result<(), Error> {
        self.dead_item(tenant, id).await?;
        self.write(Write::DeleteDead(OutboxDone { tenant: tenant.clone(), id })).await
    }

    async fn dead_item(&self, tenant: &TenantId, id: Uuid) -> Result<DeadItem, Error> {
        self.parts.store.dead_item(tenant, id).await?.ok_or_else(|| no_dead_item(id))
    }

    async fn forget(&self, item: &OutboxItem, mut writes: Vec<Write>) -> Result<(), Error> {
        writes.push(done(item));
        let set = WriteSet { guards: vec![guard(item)], writes, hints: Vec::new() };
        match self.committer.commit(set).await? {
            Verdict::Refused(reason) => Err(Error::unprocessable("data_refused", reason)),
            // A conflict means that the item is gone: another host was quicker.
            _ => Ok(()),
        }
    }
}

/// Takes the end of an item into the draft.
pub(super) async fn sent(
    engine: &Engine,
    draft: &mut Draft,
    item: &OutboxItem,
    event: &Event,
    more: &[Write],
) -> Result<Taken, Error> {
    if draft.guards.contains(&guard(item)) {
        return Ok(Taken::Stale);
    }
    draft.guards.push(guard(item));
    draft.writes.push(done(item));
    draft.writes.extend_from_slice(more);
    let step = engine.parts.store.step_execution(&item.tenant, item.step_execution_id).await?;
    let Some(step) = step else { return Ok(Taken::Done) };
    if let Event::Custom { custom_kind, .. } = event {
        let serving = engine.parts.plugins.step_type(&step.step_type);
        if !serving.is_some_and(|serving| serving.descriptor.accepts.contains(custom_kind)) {
            return Ok(Taken::Done);
        }
    }
    deliver::to_step(engine, draft, &step.step_id, step.id, event, None).await?;
    Ok(Taken::Done)
}

fn no_dead_item(id: Uuid) -> Error {
    let message = format!("there is no dead letter {id}; it was sent again, or discarded");
    Error::not_found("dead_letter_not_found", message)
}

fn guard(item: &OutboxItem) -> Guard {
    Guard::Outbox { tenant: item.tenant.clone(), id: item.id }
}

fn done(item: &OutboxItem) -> Write {
    Write::DeleteOutbox(OutboxDone { tenant: item.tenant.clone(), id: item.id })
}
