//! External tasks: what workers and deadlines do to them.

mod change;
mod due;
mod lease;
mod report;
