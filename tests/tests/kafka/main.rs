//! Kafka, with a real broker that the tests start: events come in, messages go out, and brokers and hosts die on the way.
//!
//! On PostgreSQL two hosts share one consumer group; on SQLite there is one host. Where there is no Kafka (`make kafka`
//! fetches it) each test says that it was skipped, and fails where `CI` is `true`.

mod bench;
mod events;
mod publish;
mod setting;
mod traces;
mod trouble;
mod waiting;
