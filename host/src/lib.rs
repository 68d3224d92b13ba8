//! Stepwell: a durable workflow engine, extended with WebAssembly.
//!
//! The rooms, and the way that data takes through them: `api` and `dispatch` bring signals to the `engine`,
//! which loads, asks a `plugin`, commits to the `store` and announces. `domain` has the words that all share.

pub mod api;
pub mod boot;
pub mod cli;
pub mod dispatch;
pub mod domain;
pub mod engine;
pub mod failpoint;
pub mod metrics;
pub mod node;
pub mod plugin;
pub mod settings;
pub mod store;
pub mod telemetry;
pub mod tls;
