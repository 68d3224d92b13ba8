//! A fold: load an instance once, take in many signals, commit once.

use std::sync::Arc;

use tracing::Instrument as _;

use super::draft::Draft;
use super::mailbox::{Envelope, Taken};
use super::port::{Verdict, Write};
use super::signal::Signal;
use super::{
    Engine, Error, advance, cancel, deliver, events, give_up, outgoing, record, resume, revive, schedule,
    timers, variables,
};
use crate::domain::definition::Workflow;
use crate::domain::instance::Instance;
use crate::domain::{InstanceId, TenantId};
use crate::metrics as names;

/// Takes in signals of one instance and answers each of them.
pub(super) async fn run(engine: &Arc<Engine>, tenant: &TenantId, id: InstanceId, envelopes: Vec<Envelope>) {
    let span = envelopes.first().map_or_else(tracing::Span::none, |first| first.span.clone());
    let signals: Vec<&Signal> = envelopes.iter().map(|envelope| &envelope.signal).collect();
    let outcome = attempt(engine, tenant, id, &signals).instrument(span).await;
    match outcome {
        Ok(Attempt::Applied(answers)) => {
            for (envelope, answer) in envelopes.into_iter().zip(answers) {
                let _ = envelope.reply.send(answer);
            }
        }
        // One of them was based on something that has changed, or cannot be stored: find out which.
        Ok(Attempt::Conflict | Attempt::Refused(_)) if envelopes.len() > 1 => {
            for envelope in envelopes {
                Box::pin(run(engine, tenant, id, vec![envelope])).await;
            }
        }
        Ok(Attempt::Conflict) => reply_all(envelopes, || Ok(Taken::Stale)),
        Ok(Attempt::Refused(reason)) => reply_all(envelopes, || {
            Err(Error::unprocessable("data_refused", format!("the database cannot store this: {reason}")))
        }),
        Err(error) => reply_all(envelopes, || Err(error.clone())),
    }
}

enum Attempt {
    /// Committed; the answer of each signal.
    Applied(Vec<Result<Taken, Error>>),
    /// Something changed in between.
    Conflict,
    /// The database refused the data.
    Refused(String),
}

/// Decides from memory if it can, and lets the commit say whether that was right; else from what is read now.
async fn attempt(
    engine: &Arc<Engine>,
    tenant: &TenantId,
    id: InstanceId,
    signals: &[&Signal],
) -> Result<Attempt, Error> {
    if let Some(snapshot) = engine.recent.take_instance(tenant, id) {
        let workflow = workflow(engine, &snapshot.instance).await?;
        let draft = Draft::recall(workflow, snapshot, engine.parts.clock.now());
        match decide(engine, draft, signals).await? {
            Decided::Committed(attempt @ (Attempt::Applied(_) | Attempt::Refused(_))) => return Ok(attempt),
            Decided::Committed(Attempt::Conflict) => count_conflict(signals),
            Decided::Nothing(_) => {}
        }
    }
    let Some(instance) = engine.parts.store.instance(tenant, id).await? else {
        return Err(Error::not_found("instance_not_found", format!("there is no instance {id}")));
    };
    let draft = Draft::of(workflow(engine, &instance).await?, instance, engine.parts.clock.now());
    match decide(engine, draft, signals).await? {
        Decided::Committed(attempt) => {
            if matches!(attempt, Attempt::Conflict) {
                count_conflict(signals);
            }
            Ok(attempt)
        }
        Decided::Nothing(answers) => Ok(Attempt::Applied(answers)),
    }
}

/// Two hosts had an event for one instance at the same instant: one of them decides again.
fn count_conflict(signals: &[&Signal]) {
    if signals.iter().any(|signal| matches!(signal, Signal::Arrived(_))) {
        metrics::counter!(names::RESUME_CONFLICTS).increment(1);
    }
}

enum Decided {
    /// Something was to be written, and this became of it.
    Committed(Attempt),
    /// There was nothing to write: no guard has confirmed what it was decided on.
    Nothing(Vec<Result<Taken, Error>>),
}

async fn decide(engine: &Arc<Engine>, mut draft: Draft, signals: &[&Signal]) -> Result<Decided, Error> {
    let was = draft.instance.status;
    let mut answers = Vec::with_capacity(signals.len());
    let mut changed = false;
    for signal in signals {
        let answer = take(engine, &mut draft, signal).await?;
        changed |= matches!(answer, Ok(Taken::Done));
        answers.push(answer);
    }
    if !changed {
        return Ok(Decided::Nothing(answers));
    }
    draft.settle();
    record::instance_end(&mut draft, was);
    if draft.instance.status.ended() && !was.ended() {
        schedule::wake(&mut draft);
    }
    let (set, snapshot) = draft.into_write_set();
    Ok(Decided::Committed(match engine.committer.commit(set).await? {
        Verdict::Applied => {
            engine.recent.keep_instance(snapshot);
            Attempt::Applied(answers)
        }
        Verdict::Conflict | Verdict::Started(_) => Attempt::Conflict,
        Verdict::Refused(reason) => Attempt::Refused(reason),
    }))
}

async fn workflow(engine: &Engine, instance: &Instance) -> Result<Arc<Workflow>, Error> {
    let (key, version) = (&instance.workflow_key, instance.workflow_version);
    engine.definitions.get(&engine.parts, &instance.tenant, key, version).await
}

/// Takes in one signal. The outer error ends the fold; the inner one is the signal's own.
async fn take(engine: &Engine, draft: &mut Draft, signal: &Signal) -> Result<Result<Taken, Error>, Error> {
    if draft.instance.status.ended()
        && !matches!(signal, Signal::Cancel { .. } | Signal::Revive { .. } | Signal::Mended(_))
    {
        // Its tasks, timers and subscriptions are closed: whoever sent this will see it when it looks again.
        return Ok(Ok(Taken::Stale));
    }
    // What this fold has closed is closed by the last of its statements: nothing of it can be opened again before that.
    let opens = matches!(signal, Signal::Revive { .. } | Signal::Mended(_));
    if opens && draft.writes.iter().any(|write| matches!(write, Write::CloseInstance(_))) {
        return Ok(Ok(Taken::Stale));
    }
    let taken = match signal {
        Signal::TaskEnded { task, read_version, event, patch } => {
            let before = variables::Before::of(draft, patch);
            if let Err(error) = variables::apply(engine, draft, patch) {
                return Ok(Err(error));
            }
            let taken = deliver::task_ended(engine, draft, task, *read_version, event).await?;
            if matches!(taken, Taken::Stale) {
                before.restore(draft);
            }
            taken
        }
        Signal::TaskHeld { task, read_version, event } => {
            give_up::hold(engine, draft, task, *read_version, event).await?
        }
        Signal::TaskRevived { task, read_version } => {
            give_up::revive(engine, draft, task, *read_version).await?
        }
        Signal::Variables(patch) => match variables::apply(engine, draft, patch) {
            Ok(taken) => taken,
            Err(error) => return Ok(Err(error)),
        },
        Signal::TimerDue(timer) => deliver::timer_due(engine, draft, timer).await?,
        Signal::TimerCancelled(timer) => timers::cancelled(engine, draft, timer).await?,
        Signal::Message { subscription, event, origin } => {
            deliver::message(engine, draft, subscription, event, origin.as_ref()).await?
        }
        Signal::Sent { item, event, more } => outgoing::sent(engine, draft, item, event, more).await?,
        Signal::Arrived(arrival) => events::deliver(engine, draft, arrival).await?,
        Signal::Kept(kept) => events::keep(engine, draft, kept).await?,
        Signal::Mended(mending) => match events::mend(engine, draft, mending).await? {
            Ok(taken) => taken,
            Err(refusal) => return Ok(Err(refusal)),
        },
        Signal::Cancel { reason } => return cancel::apply(engine, draft, reason).await,
        Signal::Resume(incident) => resume::apply(engine, draft, incident).await?,
        Signal::Revive { task, read_version } => {
            match revive::apply(engine, draft, task, *read_version).await? {
                Ok(taken) => taken,
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
    };
    advance::run(engine, draft).await?;
    events::drain_kept(engine, draft).await?;
    Ok(Ok(taken))
}

fn reply_all(envelopes: Vec<Envelope>, answer: impl Fn() -> Result<Taken, Error>) {
    for envelope in envelopes {
        let _ = envelope.reply.send(answer());
    }
}
