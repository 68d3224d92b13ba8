//! What can happen to an instance.

use super::events::{Arrival, Mending};
use super::port::Write;
use crate::domain::event::Event;
use crate::domain::incident::Incident;
use crate::domain::task::Task;
use crate::domain::timer::{OutboxItem, Subscription, Timer};
use crate::domain::variable::Patch;
use crate::domain::wait::KeptEvent;

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
        /// Variables that the worker set.
        patch: Patch,
    },
    /// A worker gave a task up: its step is held until somebody gives it more attempts, or resumes it.
    TaskHeld {
        /// The row to write.
        task: Box<Task>,
        /// As read.
        read_version: i64,
        /// What the step is told if it is resumed instead.
        event: Event,
    },
    /// A task that was given up is offered again.
    TaskRevived {
        /// The row to write.
        task: Box<Task>,
        /// As read.
        read_version: i64,
    },
    /// Variables were changed from outside.
    Variables(Patch),
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
    /// Named events of a wait have come from outside.
    Arrived(Box<Arrival>),
    /// An event came whose wait has not begun.
    Kept(Box<KeptEvent>),
    /// An operator mends a wait that failed.
    Mended(Box<Mending>),
    /// Something that the step sent is over: answered, or given up.
    Sent {
        /// The item of the outbox.
        item: Box<OutboxItem>,
        /// What the step is told.
        event: Box<Event>,
        /// What else is written with it.
        more: Vec<Write>,
    },
    /// An operator stops the instance.
    Cancel {
        /// Why.
        reason: String,
    },
    /// An operator lets a held step go on.
    Resume(Box<Incident>),
    /// An operator offers a dead letter again: its row as it shall be, and the version that was read.
    Revive {
        /// The row to write.
        task: Box<Task>,
        /// As read.
        read_version: i64,
    },
}

/// An item of the outbox, which may come twice.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// The item.
    pub(super) item: uuid::Uuid,
}
