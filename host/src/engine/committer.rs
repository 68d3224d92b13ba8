//! Group commit: whatever is ready goes into one transaction.
//!
//! Each lane takes all that waits, up to a limit, and commits it; while one waits for the disk, another writes. Only
//! one writes at a time, so that batches are big: what a statement costs by itself is shared by all its rows. There is
//! no linger: under load the wait for one's turn gathers enough.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc, oneshot};
use tracing::Instrument as _;

use super::Parts;
use super::port::store::Turn;
use super::port::{StoreError, Verdict, WriteSet};
use crate::failpoint::{self, Point};

/// Lanes that commit at once.
const LANES: usize = 2;
/// Transitions that may wait for a lane before their makers do.
const QUEUE_TRANSITIONS_MAX: usize = 4_096;

/// How long a batch may be the only one that is written.
const TURN_MAX: Duration = Duration::from_secs(1);

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
        // The lock is held until the batch is written: the others are next in line, not in the way.
        let mut turn = requests.clone().lock_owned().await;
        let Some(first) = turn.recv().await else { return };
        let mut bytes = first.set.bytes();
        let mut batch = vec![first];
        while batch.len() < parts.limits.batch_transitions_max && bytes < parts.limits.batch_bytes_max {
            let Ok(request) = turn.try_recv() else { break };
            bytes += request.set.bytes();
            batch.push(request);
        }
        let turn = Turn::new(turn);
        let mut commit = std::pin::pin!(commit_batch(&parts, batch, turn.clone()));
        // A batch that waits for a lock, or for the database to come back, must not hold up all others.
        if tokio::time::timeout(TURN_MAX, commit.as_mut()).await.is_err() {
            turn.end();
            commit.await;
        }
    }
}

async fn commit_batch(parts: &Parts, batch: Vec<Request>, turn: Turn) {
    let mut sets = Vec::with_capacity(batch.len());
    let mut hints = Vec::with_capacity(batch.len());
    let mut replies = Vec::with_capacity(batch.len());
    let span = batch.first().map_or_else(tracing::Span::none, |first| first.span.clone());
    for request in batch {
        hints.push(request.set.hints.clone());
        sets.push(request.set);
        replies.push(request.reply);
    }
    failpoint::pass(Point::CommitDecided);
    match parts.store.commit_in_turn(sets, turn).instrument(span).await {
        Ok(verdicts) => {
            failpoint::pass(Point::CommitUnannounced);
            for ((hints, reply), verdict) in hints.into_iter().zip(replies).zip(verdicts) {
                if verdict == Verdict::Applied && !hints.is_empty() {
                    parts.announcer.announce(&hints);
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
