//! Decisions: load, ask a plugin, commit, announce. Knows its surroundings by the traits in [`port`].
//!
//! A signal comes in by one of the verbs of [`Engine`] (`start`, `task/`, `message`, `cancel`, `resume`), waits in
//! its instance's `mailbox`, is taken in by a `fold`, which asks plugins (`decide`), turns effects into rows
//! (`apply`), follows the graph (`advance`), and hands one transition to the `committer`.

mod advance;
mod apply;
mod batch;
mod cancel;
mod committer;
mod compensate;
mod configure;
mod crowd;
mod deadline;
mod decide;
pub mod definition;
mod definitions;
mod deliver;
mod draft;
pub mod error;
mod events;
mod fold;
mod give_up;
mod hold;
pub mod keyring;
mod ledger;
mod mailbox;
mod mapping;
mod message;
mod outgoing;
mod persist;
pub mod port;
mod prune;
mod ready;
mod recent;
mod record;
mod resume;
mod revive;
mod schedule;
mod secrets;
mod senders;
mod signal;
mod start;
mod surface;
mod task;
mod timers;
mod token;
mod until;
mod variables;
mod workers;

pub use error::{Error, Mistake};
pub use events::CallbackTarget;
pub use task::{Claimed, Trust};

pub use surface::{
    Deployed, Engine, HeartbeatAnswer, IncomingMessage, NewToken, Parts, StartRequest, Started, WorkerFailure,
};
pub use task::camunda::{OwnerFailure, Refused};
pub use task::{Reason, Why};
