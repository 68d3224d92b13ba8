//! An event goes to its wait, or is kept until the wait begins; inside the instance's fold.

use std::sync::Arc;

use super::callback::signed;
use super::hear::{Hearing, Letter, hear};
use crate::domain::event::Event;
use crate::domain::id::fresh;
use crate::domain::incoming::{Receipt, Rejection};
use crate::domain::json::canonical;
use crate::domain::step::StepStatus;
use crate::domain::wait::{KeptEvent, WaitState};
use crate::engine::draft::Draft;
use crate::engine::mailbox::Taken;
use crate::engine::port::Write;
use crate::engine::port::events::{KeptGone, WaitKey};
use crate::engine::signal::Signal;
use crate::engine::{Engine, Error, deliver as steps, ledger};
use crate::metrics as names;

/// How long an event is kept for a wait that has not begun.
pub(super) const KEPT_MS: i64 = 5 * 60 * 1_000;
/// Events kept for one instance.
const KEPT_COUNT_MAX: i64 = 100;
/// Bytes of events kept for one instance.
const KEPT_BYTES_MAX: i64 = 1 << 20;
/// Waits that begin and end with what was kept, one after the other, in one fold.
const DRAINED_MAX: usize = 100;

/// An event with the ids that it has.
#[derive(Clone)]
pub(super) struct Parcel {
    pub(super) key: WaitKey,
    pub(super) letter: Letter,
}

/// Named events of a wait that have come.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// The wait as it was read.
    wait: WaitState,
    names: Vec<String>,
    letter: Letter,
}

impl Engine {
    /// Hands an event with both ids in; `known` is its wait, if it was read a moment ago.
    pub(super) async fn hand_in(
        self: &Arc<Self>,
        parcel: Parcel,
        mut known: Option<WaitState>,
    ) -> Result<Receipt, Error> {
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let wait = match known.take() {
                Some(wait) => Some(wait),
                None => self.parts.store.waits_for(std::slice::from_ref(&parcel.key)).await?.pop(),
            };
            let done = match wait {
                Some(wait) => self.hand_to(wait, &parcel).await?,
                None => self.keep_for_later(&parcel).await?,
            };
            match done {
                Some(Receipt { rejected: Some(rejection), .. }) => {
                    self.reject_parcel(&parcel, rejection).await?;
                    return Ok(Receipt::refused(rejection));
                }
                Some(receipt) => return Ok(receipt),
                // It was based on something that has changed: look again.
                None => {}
            }
        }
        Err(self.too_many_conflicts(parcel.key.execution_id))
    }

    async fn hand_to(self: &Arc<Self>, wait: WaitState, parcel: &Parcel) -> Result<Option<Receipt>, Error> {
        let (listeners, names): (Vec<_>, Vec<_>) = match hear(&wait, &parcel.letter) {
            Hearing::Heard(heard) => {
                heard.into_iter().map(|listener| (listener.clone(), listener.name.clone())).unzip()
            }
            Hearing::Repeated(repeated) => return Ok(Some(Receipt { repeated, ..Receipt::default() })),
            Hearing::Refused(rejection) => return Ok(Some(Receipt::refused(rejection))),
        };
        for listener in &listeners {
            if !signed(self, &wait, listener, &parcel.letter).await? {
                return Ok(Some(Receipt::refused(Rejection::BadSignature)));
            }
        }
        let (tenant, instance, count) = (wait.tenant.clone(), wait.execution_id, names.len());
        let arrival = Arrival { wait, names, letter: parcel.letter.clone() };
        Ok(match self.send(&tenant, instance, Signal::Arrived(Box::new(arrival))).await {
            Ok(Taken::Done) => Some(Receipt { delivered: count, ..Receipt::default() }),
            Ok(Taken::Already) => Some(Receipt { repeated: count, ..Receipt::default() }),
            Ok(Taken::Stale) => None,
            Err(Error::NotFound { .. }) => Some(Receipt::refused(Rejection::UnknownExecution)),
            Err(error) => return Err(error),
        })
    }

    async fn keep_for_later(self: &Arc<Self>, parcel: &Parcel) -> Result<Option<Receipt>, Error> {
        let WaitKey { tenant, execution_id, .. } = &parcel.key;
        let Some(instance) = self.parts.store.instance(tenant, *execution_id).await? else {
            return Ok(Some(Receipt::refused(Rejection::UnknownExecution)));
        };
        if instance.status.ended() {
            return Ok(Some(Receipt::refused(Rejection::ExecutionOver)));
        }
        let event = serde_json::to_value(&parcel.letter).map(|value| canonical(&value)).unwrap_or_default();
        let bytes = i64::try_from(event.len()).unwrap_or(i64::MAX);
        let sum = self.parts.store.kept_sum(tenant, *execution_id).await?;
        if sum.count >= KEPT_COUNT_MAX || sum.bytes.saturating_add(bytes) > KEPT_BYTES_MAX {
            return Ok(Some(Receipt::refused(Rejection::TooManyKept)));
        }
        let now = self.parts.clock.now();
        let kept = KeptEvent {
            id: fresh(),
            tenant: tenant.clone(),
            execution_id: *execution_id,
            correlation_id: parcel.key.correlation_id.clone(),
            source: parcel.letter.source.clone(),
            topic: parcel.letter.topic.clone(),
            event,
            bytes,
            created_at: now,
            expires_at: now.plus_millis(KEPT_MS),
        };
        Ok(match self.send(tenant, *execution_id, Signal::Kept(Box::new(kept))).await {
            Ok(Taken::Done | Taken::Already) => Some(Receipt { kept: 1, ..Receipt::default() }),
            Ok(Taken::Stale) => None,
            Err(Error::NotFound { .. }) => Some(Receipt::refused(Rejection::UnknownExecution)),
            Err(error) => return Err(error),
        })
    }
}

/// Takes named events of a wait into the draft.
pub(in crate::engine) async fn deliver(
    engine: &Engine,
    draft: &mut Draft,
    arrival: &Arrival,
) -> Result<Taken, Error> {
    let (node, execution) = (&arrival.wait.node_id, arrival.wait.id);
    draft.ensure(&*engine.parts.store, std::slice::from_ref(node)).await?;
    let Some(definition) = draft.workflow.step(node).cloned() else { return Ok(Taken::Stale) };
    let (mut taken, mut late) = (Taken::Already, false);
    for name in &arrival.names {
        let open = draft.step(node).is_some_and(|step| step.id == execution && step.status.open());
        if !open {
            // What came with it has let the step end: the rest is too late, and the next look will say so.
            return Ok(if matches!(taken, Taken::Done) { Taken::Done } else { Taken::Stale });
        }
        if !ledger::hear(&mut draft.step_mut(&definition).effect_keys, name) {
            continue;
        }
        let event = event(name, &arrival.wait, &arrival.letter);
        steps::to_step(engine, draft, node, execution, &event, None).await?;
        if is_too_late(engine, draft, &arrival.wait, name).await? {
            ledger::unhear(&mut draft.step_mut(&definition).effect_keys, name);
            late = true;
            continue;
        }
        metrics::counter!(names::EVENTS_HANDLED, "node" => engine.parts.node_id.to_string()).increment(1);
        taken = Taken::Done;
    }
    // The next look at the wait will say why.
    Ok(if late && matches!(taken, Taken::Already) { Taken::Stale } else { taken })
}

/// Whether a step did not take an event because the event's own time was over: in a commit that came between the look at
/// the wait and now, or earlier in this fold.
async fn is_too_late(engine: &Engine, draft: &Draft, wait: &WaitState, name: &str) -> Result<bool, Error> {
    // What a fault holds up is kept, and taken in its order.
    if draft.step(&wait.node_id).is_some_and(|step| step.status == StepStatus::Incident) {
        return Ok(false);
    }
    let now = match draft.wait(wait.id) {
        Some(now) => Some(now),
        None => engine.parts.store.wait_state(&wait.tenant, wait.id).await?,
    };
    Ok(now.is_some_and(|now| {
        let closed = now.listeners.iter().any(|listener| listener.name == *name && listener.closed);
        closed && !now.received_events.iter().any(|received| received == name)
    }))
}

/// Takes an event into the draft whose wait has not begun, unless it has meanwhile.
pub(in crate::engine) async fn keep(
    engine: &Engine,
    draft: &mut Draft,
    kept: &KeptEvent,
) -> Result<Taken, Error> {
    let key = WaitKey {
        tenant: kept.tenant.clone(),
        execution_id: kept.execution_id,
        correlation_id: kept.correlation_id.clone(),
    };
    let began = draft.waits.iter().any(|(_, correlation)| *correlation == kept.correlation_id);
    if began || !engine.parts.store.waits_for(&[key]).await?.is_empty() {
        return Ok(Taken::Stale);
    }
    draft.writes.push(Write::InsertKept(kept.clone()));
    Ok(Taken::Done)
}

/// Waits that have begun get what was kept for them. The instance's version says that nothing was kept in between.
pub(in crate::engine) async fn drain_kept(engine: &Engine, draft: &mut Draft) -> Result<(), Error> {
    for _ in 0..DRAINED_MAX {
        let Some((execution, correlation_id)) = draft.take_new_wait() else { return Ok(()) };
        let key = WaitKey {
            tenant: draft.instance.tenant.clone(),
            execution_id: draft.instance.id,
            correlation_id,
        };
        for kept in engine.parts.store.kept_events(&key).await? {
            let gone = KeptGone { tenant: kept.tenant.clone(), id: kept.id };
            // It was taken in by this fold already, under another wait of the same id.
            let known =
                draft.writes.iter().any(|write| matches!(write, Write::DeleteKept(row) if row.id == kept.id));
            if known || kept.expires_at <= draft.now {
                continue;
            }
            let Some(wait) = draft.wait(execution) else { break };
            let Some(letter) = Letter::of_kept(&kept) else { continue };
            let names = match hear(&wait, &letter) {
                Hearing::Heard(heard) => {
                    let mut all_signed = true;
                    for listener in &heard {
                        all_signed &= signed(engine, &wait, listener, &letter).await?;
                    }
                    if all_signed {
                        heard.iter().map(|heard| heard.name.clone()).collect()
                    } else {
                        Vec::new()
                    }
                }
                Hearing::Repeated(_) => {
                    draft.writes.push(Write::DeleteKept(gone));
                    continue;
                }
                Hearing::Refused(_) => Vec::new(),
            };
            // What this wait does not hear is refused when its time is over.
            if names.is_empty() {
                continue;
            }
            draft.writes.push(Write::DeleteKept(gone));
            deliver(engine, draft, &Arrival { wait, names, letter }).await?;
            crate::engine::advance::run(engine, draft).await?;
        }
    }
    Ok(())
}

fn event(name: &str, wait: &WaitState, letter: &Letter) -> Event {
    Event::MessageReceived {
        key: name.to_owned(),
        name: if letter.topic.is_empty() { name.to_owned() } else { letter.topic.clone() },
        correlation: Some(wait.correlation_id.clone()),
        payload: letter.payload.clone(),
        headers: letter.headers.clone(),
    }
}
