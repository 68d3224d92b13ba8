//! What the engine needs from outside, as traits: the rooms behind them are chosen at start.

pub mod announce;
mod changes;
pub mod events;
pub mod guard;
pub mod outgoing;
pub mod plugins;
pub mod query;
pub mod store;
pub mod time;
pub mod workers;
pub mod write;

pub use announce::{Announcer, Deed, Handed, Hint, Seat, Work};
pub use events::EventRows;
pub use guard::Guard;
pub use outgoing::OutgoingRows;
pub use plugins::{Answer, PluginCatalog, Plugins, StepType};
pub use query::TaskQueries;
pub use store::{Store, StoreError};
pub use time::TimeRows;
pub use workers::WorkerRows;
pub use write::{Verdict, Write, WriteSet};
