//! The words of the engine: plain data, no IO, no clock.
//!
//! A struct that is stored has the names of its columns as fields, so that a row travels between Rust
//! and SQL as one JSON object.

pub mod address;
pub mod batch;
pub mod body;
pub mod definition;
pub mod effect;
pub mod event;
pub mod id;
pub mod incident;
pub mod incoming;
pub mod instance;
pub mod journal;
pub mod json;
pub mod limits;
pub mod page;
pub mod pattern;
pub mod plugin;
pub mod reminder;
pub mod schedule;
pub mod secret;
pub mod sender;
pub mod step;
pub mod task;
pub mod time;
pub mod timer;
pub mod token;
pub mod topic;
pub mod transition;
pub mod trigger;
pub mod turn;
pub mod variable;
pub mod wait;
pub mod worker;

pub use id::{
    Digest, EventId, IncidentId, InstanceId, LockToken, ScheduleId, StepExecutionId, SubscriptionId, TaskId,
    TenantId, TimerId, TokenId,
};
pub use time::{Clock, SystemClock, Timestamp};
