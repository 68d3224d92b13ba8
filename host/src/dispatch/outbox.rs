//! What leaves an instance after its commit. At least once: it is sent first and removed then; a step
//! knows a message that comes again.

use std::sync::Arc;

use super::courier::Courier;
use crate::domain::Timestamp;
use crate::domain::effect::Effect;
use crate::domain::timer::OutboxItem;
use crate::engine::port::write::OutboxDone;
use crate::engine::port::{Guard, Store, Write, WriteSet};
use crate::engine::{Engine, Error, IncomingMessage};
use crate::failpoint::{self, Point};
use crate::metrics as names;

/// The wait after the first failure; doubled from one to the next.
const RETRY_FIRST_MS: i64 = 1_000;
/// The longest wait.
const RETRY_LONGEST_MS: i64 = 3_600_000;

/// Sends one item. If that fails the item is kept, with the reason, for a later try.
///
/// What leaves for the outside is only handed to the courier: it may take long, and nothing waits for it here.
pub async fn send(
    engine: &Arc<Engine>,
    store: &dyn Store,
    courier: Option<&Arc<Courier>>,
    item: OutboxItem,
    now: Timestamp,
) -> Result<(), Error> {
    let effect = read(&item);
    if let (Ok(effect), Some(courier)) = (&effect, courier)
        && Courier::carries(effect)
    {
        courier.send(item, effect.clone());
        return Ok(());
    }
    let write = match deliver(engine, &item, effect).await {
        Ok(()) => {
            failpoint::pass(Point::OutboxSent);
            metrics::counter!(names::OUTBOX_SENT, "kind" => item.kind.clone()).increment(1);
            Write::DeleteOutbox(OutboxDone { tenant: item.tenant.clone(), id: item.id })
        }
        // The database is away: the lease on the row is the wait.
        Err(Error::Store(error)) => return Err(error.into()),
        Err(error) => {
            tracing::warn!(tenant = %item.tenant, item = %item.id, kind = item.kind, %error, "not sent yet");
            Write::UpdateOutbox(failed(item.clone(), &error, now))
        }
    };
    let guard = Guard::Outbox { tenant: item.tenant, id: item.id };
    // A conflict means that the item is gone: another host was quicker.
    store.commit(vec![WriteSet { guards: vec![guard], writes: vec![write], hints: Vec::new() }]).await?;
    Ok(())
}

fn read(item: &OutboxItem) -> Result<Effect, Error> {
    serde_json::from_str(&item.payload).map_err(|error| {
        Error::unprocessable("outbox_unreadable", format!("the item cannot be read: {error}"))
    })
}

async fn deliver(
    engine: &Arc<Engine>,
    item: &OutboxItem,
    effect: Result<Effect, Error>,
) -> Result<(), Error> {
    match effect? {
        Effect::Publish { name, correlation, payload, headers, .. } => {
            let message = IncomingMessage { name, correlation, payload, headers };
            engine.forward(item, message).await
        }
        other => Err(Error::unprocessable(
            "outbox_kind_unknown",
            format!("this host cannot send `{}`; a newer one may", other.label()),
        )),
    }
}

fn failed(mut item: OutboxItem, error: &Error, now: Timestamp) -> OutboxItem {
    let doublings = u32::try_from(item.attempts.clamp(0, 20)).unwrap_or(0);
    item.attempts = item.attempts.saturating_add(1);
    item.due_at = now.plus_millis((RETRY_FIRST_MS << doublings).min(RETRY_LONGEST_MS));
    item.last_error = Some(error.to_string());
    item
}
