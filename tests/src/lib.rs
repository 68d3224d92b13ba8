//! What the tests stand on: real hosts, real databases, conditions instead of sleeps.

pub mod command;
pub mod proxy;
