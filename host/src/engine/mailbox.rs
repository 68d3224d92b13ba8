//! One holder for each instance: signals queue up and are folded, many to a commit.
//!
//! A wide fan-in would otherwise fight over one row, each loser loading and deciding again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::signal::Signal;
use super::{Engine, Error, fold};
use crate::domain::{InstanceId, TenantId};

/// What became of a signal.
#[derive(Debug)]
pub(super) enum Taken {
    /// It is committed.
    Done,
    /// It was so before; nothing was written.
    Already,
    /// What it was based on has changed: look again, then send it again if it still makes sense.
    Stale,
}

/// A signal with the one who waits for it.
pub(super) struct Envelope {
    pub(super) signal: Signal,
    pub(super) reply: oneshot::Sender<Result<Taken, Error>>,
    pub(super) span: tracing::Span,
}

type Address = (TenantId, InstanceId);

/// The queues of all instances that something is happening to.
#[derive(Default)]
pub(super) struct Mailboxes {
    queues: Mutex<HashMap<Address, VecDeque<Envelope>>>,
}

impl Mailboxes {
    /// Queues a signal; whether the caller must start a holder.
    fn push(&self, address: &Address, envelope: Envelope, signals_max: usize) -> Result<bool, Error> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get_mut(address) {
            if queue.len() >= signals_max {
                return Err(Error::Busy {
                    code: "instance_busy",
                    message: format!("instance {} has {signals_max} signals waiting; try again", address.1),
                });
            }
            queue.push_back(envelope);
            return Ok(false);
        }
        queues.insert(address.clone(), VecDeque::from([envelope]));
        Ok(true)
    }

    /// The next signals, or none: then the queue is gone, and the next signal starts a new holder.
    fn take(&self, address: &Address, signals_max: usize) -> Vec<Envelope> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(queue) = queues.get_mut(address) else { return Vec::new() };
        let count = queue.len().min(signals_max);
        let taken: Vec<_> = queue.drain(..count).collect();
        if taken.is_empty() {
            queues.remove(address);
        }
        taken
    }
}

/// A holder that panicked must not leave a queue that nobody serves: what waits in it is told to try again.
struct ClearOnPanic<'a>(&'a Mailboxes, &'a Address);

impl Drop for ClearOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.queues.lock().unwrap_or_else(PoisonError::into_inner).remove(self.1);
        }
    }
}

impl Engine {
    /// Sends a signal to its instance and waits until it is committed, here or together with others.
    pub(super) async fn send(
        self: &Arc<Self>,
        tenant: &TenantId,
        instance: InstanceId,
        signal: Signal,
    ) -> Result<Taken, Error> {
        let (reply, taken) = oneshot::channel();
        let envelope = Envelope { signal, reply, span: tracing::Span::current() };
        let address = (tenant.clone(), instance);
        if self.mailboxes.push(&address, envelope, self.parts.limits.mailbox_signals_max)? {
            let engine = self.clone();
            self.work.spawn(async move { engine.hold(address).await });
        }
        taken.await.unwrap_or_else(|_| {
            Err(Error::Busy { code: "instance_busy", message: "the signal was not taken; try again".into() })
        })
    }

    async fn hold(self: Arc<Self>, address: Address) {
        let _clear = ClearOnPanic(&self.mailboxes, &address);
        loop {
            let envelopes = self.mailboxes.take(&address, self.parts.limits.fold_signals_max);
            if envelopes.is_empty() {
                return;
            }
            fold::run(&self, &address.0, address.1, envelopes).await;
        }
    }
}
