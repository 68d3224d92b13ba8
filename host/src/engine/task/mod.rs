//! External tasks: what workers and deadlines do to them.

mod change;
mod dead_letter;
mod due;
mod lease;
mod report;
mod why;

pub(super) use report::availability;
pub use why::{Reason, Why};
