//! Group commit: whatever is ready goes into one transaction.
//!
//! Each lane takes all that waits, up to a limit, and commits it; while one lane waits for the disk, another
//! gathers. There is no linger: under load the wait for the disk gathers enough by itself.

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot};
use tracing::Instrument as _;

use super::Parts;
use super::port::{StoreError, Verdict, WriteSet};
use crate::failpoint::{self, Point};

/// Lanes that commit at once.
const LANES: usize = 2;
/// Transitions that may wait for a lane before their makers do.
const QUEUE_TRANSITIONS_MAX: usize = 4_096;

type Reply = Result<Verdict, StoreError>;

struct Request {
    set: WriteSet,
    reply: oneshot::Sender<Reply>,
    span: tracing::Span,
}

/// The door to the store for everything that is decided.
#[derive(Clone)]
pub(super) struct Committer {
    queue: mpsc::Sender<Request>,
}

impl Committer {
    /// Starts the lanes; they end when the last handle is dropped and the queue is empty.
    pub(super) fn start(parts: &Parts) -> Self {
        let (queue, requests) = mpsc::channel(QUEUE_TRANSITIONS_MAX);
        let requests = Arc::new(Mutex::new(requests));
        for _ in 0..LANES {
            tokio::spawn(run_lane(parts.clone(), requests.clone()));
        }
        Self { queue }
    }

    /// Commits a transition, in company. Its hints are announced before this returns.
    pub(super) async fn commit(&self, set: WriteSet) -> Reply {
        let (reply, verdict) = oneshot::channel();
        let span = tracing::debug_span!("commit");
        let stopped = || StoreError::Unavailable("the host is stopping".into());
        self.queue.send(Request { set, reply, span: span.clone() }).await.map_err(|_| stopped())?;
        verdict.instrument(span).await.map_err(|_| stopped())?
    }
}

async fn run_lane(parts: Parts, requests: Arc<Mutex<mpsc::Receiver<Request>>>) {
    loop {
        let mut batch = Vec::new();
        {
            // The lock is held while this lane waits: the others are next in line, not in the way.
            let mut requests = requests.lock().await;
            let Some(first) = requests.recv().await else { return };
            let mut bytes = first.set.bytes();
            batch.push(first);
            while batch.len() < parts.limits.batch_transitions_max && bytes < parts.limits.batch_bytes_max {
                let Ok(request) = requests.try_recv() else { break };
                bytes += request.set.bytes();
                batch.push(request);
            }
        }
        commit_batch(&parts, batch).await;
    }
}

async fn commit_batch(parts: &Parts, batch: Vec<Request>) {
    let mut sets = Vec::with_capacity(batch.len());
    let mut replies = Vec::with_capacity(batch.len());
    let span = batch.first().map_or_else(tracing::Span::none, |first| first.span.clone());
    for request in batch {
        sets.push(request.set);
        replies.push(request.reply);
    }
    failpoint::pass(Point::CommitDecided);
    match parts.store.commit(&sets).instrument(span).await {
        Ok(verdicts) => {
            failpoint::pass(Point::CommitUnannounced);
            for ((set, reply), verdict) in sets.into_iter().zip(replies).zip(verdicts) {
                if verdict == Verdict::Applied && !set.hints.is_empty() {
                    parts.announcer.announce(&set.hints);
                }
                failpoint::pass(Point::CommitUnanswered);
                // A maker that went away does not matter: the commit is done.
                let _ = reply.send(Ok(verdict));
            }
        }
        Err(error) => {
            for reply in replies {
                let _ = reply.send(Err(error.clone()));
            }
        }
    }
}
