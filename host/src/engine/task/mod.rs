//! External tasks: what workers and deadlines do to them.

pub(super) mod camunda;
mod camunda_lock;
mod change;
mod due;
mod lease;
mod report;
