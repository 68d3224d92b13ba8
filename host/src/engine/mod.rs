//! Decisions: load, ask a plugin, commit, announce. Knows its surroundings by the traits in [`port`].

pub mod definition;
pub mod error;
pub mod port;
mod surface;

pub use error::{Error, Mistake};
pub use surface::{
    Deployed, Engine, HeartbeatAnswer, IncomingMessage, NewToken, Parts, StartRequest, Started, WorkerFailure,
};
