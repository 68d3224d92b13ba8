//! A fold: load an instance once, take in many signals, commit once.

use std::sync::Arc;

use tracing::Instrument as _;

use super::draft::Draft;
use super::mailbox::{Envelope, Taken};
use super::port::Verdict;
use super::signal::Signal;
use super::{Engine, Error, advance, cancel, deliver, record, resume};
use crate::domain::InstanceId;
use crate::domain::TenantId;

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

async fn attempt(
    engine: &Arc<Engine>,
    tenant: &TenantId,
    id: InstanceId,
    signals: &[&Signal],
) -> Result<Attempt, Error> {
    let Some(instance) = engine.parts.store.instance(tenant, id).await? else {
        return Err(Error::not_found("instance_not_found", format!("there is no instance {id}")));
    };
    let workflow = engine
        .definitions
        .get(&engine.parts, tenant, &instance.workflow_key, instance.workflow_version)
        .await?;
    let was = instance.status;
    let mut draft = Draft::of(workflow, instance, engine.parts.clock.now());
    let mut answers = Vec::with_capacity(signals.len());
    let mut changed = false;
    for signal in signals {
        let answer = take(engine, &mut draft, signal).await?;
        changed |= matches!(answer, Ok(Taken::Done));
        answers.push(answer);
    }
    if !changed {
        return Ok(Attempt::Applied(answers));
    }
    draft.settle();
    record::instance_end(&mut draft, was);
    match engine.committer.commit(draft.into_write_set()).await? {
        Verdict::Applied => Ok(Attempt::Applied(answers)),
        Verdict::Conflict | Verdict::Started(_) => Ok(Attempt::Conflict),
        Verdict::Refused(reason) => Ok(Attempt::Refused(reason)),
    }
}

/// Takes in one signal. The outer error ends the fold; the inner one is the signal's own.
async fn take(engine: &Engine, draft: &mut Draft, signal: &Signal) -> Result<Result<Taken, Error>, Error> {
    if draft.instance.status.ended() && !matches!(signal, Signal::Cancel { .. }) {
        // Its tasks, timers and subscriptions are closed: whoever sent this will see it when it looks again.
        return Ok(Ok(Taken::Stale));
    }
    let taken = match signal {
        Signal::TaskEnded { task, read_version, event } => {
            deliver::task_ended(engine, draft, task, *read_version, event).await?
        }
        Signal::TimerDue(timer) => deliver::timer_due(engine, draft, timer).await?,
        Signal::Message { subscription, event, origin } => {
            deliver::message(engine, draft, subscription, event, origin.as_ref()).await?
        }
        Signal::Cancel { reason } => return cancel::apply(engine, draft, reason).await,
        Signal::Resume(incident) => resume::apply(engine, draft, incident).await?,
    };
    advance::run(engine, draft).await?;
    Ok(Ok(taken))
}

fn reply_all(envelopes: Vec<Envelope>, answer: impl Fn() -> Result<Taken, Error>) {
    for envelope in envelopes {
        let _ = envelope.reply.send(answer());
    }
}
