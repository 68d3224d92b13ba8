//! External tasks: what workers and deadlines do to them.

pub(super) mod camunda;
mod camunda_lock;
mod change;
mod claim;
mod dead_letter;
mod due;
mod hand_over;
mod lease;
mod report;
mod why;

pub use claim::{Claimed, Trust};
pub(super) use hand_over::{Fate, Promises, promise};
pub(super) use report::availability;
pub use why::{Reason, Why};

#[cfg(test)]
pub(in crate::engine) use change::tests::locked as sample_task;
