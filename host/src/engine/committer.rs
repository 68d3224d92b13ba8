//! Group commit: whatever is ready goes into one transaction.
//!
//! Each lane takes all that waits, up to a limit, and commits it. While one batch is being written the next gathers: it
//! sets out when the first has landed, or when it has become as big. So both the host and the database
//! have something to do, and batches stay big: what a statement costs by itself is shared by all its rows. There is no
//! linger: what meets nobody sets out at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, Notify, mpsc, oneshot};
use tracing::Instrument as _;

use super::Parts;
use super::port::store::Turn;
use super::port::{Hint, StoreError, Verdict, Write, WriteSet};
use super::ready::Ready;
use super::task::{self, Fate, Promises};
use crate::domain::task::{Task, TaskStatus};
use crate::failpoint::{self, Point};

/// Transitions that may wait for a lane before their makers do.
const QUEUE_TRANSITIONS_MAX: usize = 4_096;

/// How long a batch may make others wait.
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
    pub(super) fn start(parts: &Parts, ready: &Arc<Ready>) -> Self {
        let (queue, requests) = mpsc::channel(QUEUE_TRANSITIONS_MAX);
        let line = Arc::new(Mutex::new(requests));
        let under_way = Arc::new(UnderWay::default());
        for _ in 0..parts.store.commits_at_once() {
            let lane = Lane {
                parts: parts.clone(),
                ready: Arc::clone(ready),
                line: Arc::clone(&line),
                under_way: Arc::clone(&under_way),
            };
            tokio::spawn(lane.run());
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

struct Lane {
    parts: Parts,
    ready: Arc<Ready>,
    /// Who holds it is the next to set out.
    line: Arc<Mutex<mpsc::Receiver<Request>>>,
    under_way: Arc<UnderWay>,
}

impl Lane {
    async fn run(self) {
        while let Some(batch) = self.next_batch().await {
            let turn = Turn::new(self.under_way.depart(batch.len()));
            let mut commit = std::pin::pin!(commit_batch(&self.parts, &self.ready, batch, turn.clone()));
            // A batch that waits for a lock, or for the database to come back, must not hold up all others.
            if tokio::time::timeout(TURN_MAX, commit.as_mut()).await.is_err() {
                turn.end();
                commit.await;
            }
        }
    }

    /// What waits, once it shall set out; none when nothing will come any more.
    async fn next_batch(&self) -> Option<Vec<Request>> {
        let mut line = self.line.lock().await;
        let mut batch = vec![line.recv().await?];
        let mut bytes = batch[0].set.bytes();
        loop {
            let landed = self.under_way.landed();
            while !self.full(&batch, bytes)
                && let Ok(request) = line.try_recv()
            {
                bytes += request.set.bytes();
                batch.push(request);
            }
            if self.full(&batch, bytes) || batch.len() >= self.under_way.transitions() {
                return Some(batch);
            }
            tokio::select! {
                () = landed => {}
                request = line.recv() => match request {
                    Some(request) => {
                        bytes += request.set.bytes();
                        batch.push(request);
                    }
                    None => return Some(batch),
                },
            }
        }
    }

    fn full(&self, batch: &[Request], bytes: usize) -> bool {
        batch.len() >= self.parts.limits.batch_transitions_max || bytes >= self.parts.limits.batch_bytes_max
    }
}

/// Batches that are being written.
#[derive(Default)]
struct UnderWay {
    transitions: AtomicUsize,
    landed: Notify,
}

impl UnderWay {
    fn transitions(&self) -> usize {
        self.transitions.load(Ordering::Acquire)
    }

    /// Waits for the next batch to land, from the moment of the call on.
    fn landed(&self) -> impl Future<Output = ()> + '_ {
        self.landed.notified()
    }

    fn depart(self: &Arc<Self>, transitions: usize) -> Journey {
        self.transitions.fetch_add(transitions, Ordering::AcqRel);
        Journey { under_way: Arc::clone(self), transitions }
    }
}

/// A batch on its way; it has landed when this is dropped.
struct Journey {
    under_way: Arc<UnderWay>,
    transitions: usize,
}

impl Drop for Journey {
    fn drop(&mut self) {
        self.under_way.transitions.fetch_sub(self.transitions, Ordering::AcqRel);
        self.under_way.landed.notify_waiters();
    }
}

async fn commit_batch(parts: &Parts, ready: &Ready, batch: Vec<Request>, turn: Turn) {
    let span = batch.first().map_or_else(tracing::Span::none, |first| first.span.clone());
    let mut sets = Vec::with_capacity(batch.len());
    let mut followers = Vec::with_capacity(batch.len());
    let departure = parts.clock.now();
    for Request { mut set, reply, .. } in batch {
        let promises = task::promise(parts, ready, &mut set, departure);
        followers.push(Follower { hints: set.hints.clone(), tasks: pending(&set), promises, reply });
        sets.push(set);
    }
    failpoint::pass(Point::CommitDecided);
    match parts.store.commit_in_turn(sets, turn).instrument(span).await {
        Ok(verdicts) => {
            failpoint::pass(Point::CommitUnannounced);
            let now = parts.clock.now();
            for (follower, verdict) in followers.into_iter().zip(verdicts) {
                let fate = if verdict == Verdict::Applied { Fate::Done } else { Fate::Undone };
                if fate == Fate::Done {
                    follower.tasks.into_iter().for_each(|task| ready.offer(task, now));
                    parts.announcer.announce(&follower.hints);
                }
                failpoint::pass(Point::CommitUnanswered);
                // A maker that went away does not matter: the commit is done.
                let _ = follower.reply.send(Ok(verdict));
                follower.promises.settle(parts, fate);
            }
        }
        Err(error) => {
            let now = parts.clock.now();
            for follower in followers {
                // It may be there, or not: only the database knows.
                follower.tasks.iter().for_each(|task| ready.doubt(&task.tenant, &task.task_type, now));
                if matches!(error, StoreError::Unknown(_)) {
                    parts.announcer.announce(&follower.hints);
                }
                let fate = if matches!(error, StoreError::Unknown(_)) { Fate::Unknown } else { Fate::Undone };
                let _ = follower.reply.send(Err(error.clone()));
                follower.promises.settle(parts, fate);
            }
        }
    }
}

/// What is done for a transition once its fate is known.
struct Follower {
    hints: Vec<Hint>,
    tasks: Vec<Task>,
    promises: Promises,
    reply: oneshot::Sender<Reply>,
}

/// Tasks that a transition offers.
fn pending(set: &WriteSet) -> Vec<Task> {
    let tasks = set.writes.iter().filter_map(|write| match write {
        Write::InsertTask(task) | Write::UpdateTask(task) if task.status == TaskStatus::Pending => Some(task),
        _ => None,
    });
    tasks.cloned().collect()
}
