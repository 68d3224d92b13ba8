//! What can happen to an instance.

use crate::domain::event::Event;
use crate::domain::incident::Incident;
use crate::domain::task::Task;
use crate::domain::timer::{Subscription, Timer};

/// Something that happened, to be decided on and committed with what it sets off.
#[derive(Clone, Debug)]
pub(super) enum Signal {
    /// A task ended: its row as it shall be, and the version that was read.
    TaskEnded {
        /// The row to write.
        task: Box<Task>,
        /// As read.
        read_version: i64,
        /// What the step is told.
        event: Event,
    },
    /// A timer is due.
    TimerDue(Box<Timer>),
    /// An operator withdraws a timer.
    TimerCancelled(Box<Timer>),
    /// A message matched a subscription.
    Message {
        /// What it matched.
        subscription: Box<Subscription>,
        /// What the step is told.
        event: Event,
        /// The outgoing item that it was, if it was one.
        origin: Option<Origin>,
    },
    /// An operator stops the instance.
    Cancel {
        /// Why.
        reason: String,
    },
    /// An operator lets a held step go on.
    Resume(Box<Incident>),
}

/// An item of the outbox, which may come twice.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// The item.
    pub(super) item: uuid::Uuid,
}
