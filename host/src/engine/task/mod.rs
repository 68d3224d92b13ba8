//! External tasks: what workers and deadlines do to them.

mod change;
mod claim;
mod due;
mod lease;
mod report;

pub use claim::{Claimed, Trust};

#[cfg(test)]
pub(in crate::engine) use change::tests::locked as sample_task;
