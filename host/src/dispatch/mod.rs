//! The hands of a host: parked polls, deadlines, timers, the outbox, Kafka, hints from other hosts, workers, retention.
//!
//! Each loop is a tick that does one round, and a few lines that wait for a wake-up, a time or the end.

pub mod alarm;
mod backoff;
pub mod batches;
pub mod courier;
pub mod desk;
pub mod due;
pub mod events;
pub mod gauges;
mod heard;
pub mod hub;
pub mod kafka;
pub mod listen;
pub mod outbox;
pub mod retention;
pub mod withdrawals;
pub mod workers;

/// The time between two sweeps of one host: what a lost hint costs at most.
pub const SWEEP_SECONDS: u64 = 5;
