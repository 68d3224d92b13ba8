//! Kafka: events come in through one consumer group of all hosts, and messages leave for it.
//!
//! This is the only place that knows the client. A record is taken in first and counted as read then: the group's place in
//! a partition is moved only after the database has committed what the records meant. So a host that dies, a broker that
//! restarts and a partition that goes to another host repeat records, and never lose one; a record that comes again
//! changes nothing, since waits and starts know it by its place.
//!
//! A broker that is away stops nothing else: the host stays up, says so, and goes on when the broker is back.

mod dead_letters;
mod intake;
mod options;
mod probe;
mod producer;
mod reader;
mod record;
mod start;
mod watcher;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rdkafka::config::RDKafkaLogLevel;
use tokio_util::sync::CancellationToken;

pub use self::options::{Certificate, Login, Mechanism, Options, Password, Security};
use self::producer::Producer;
pub(in crate::dispatch) use self::producer::{Outgoing, Unsent};
use self::reader::Reader;
use super::hub::Hub;
use crate::domain::Clock;
use crate::engine::Engine;
use crate::metrics as names;

/// What a host has of Kafka.
pub struct Kafka {
    options: Options,
    producer: Producer,
    up: AtomicBool,
}

impl Kafka {
    /// Reads the settings; no broker is asked yet. The text says what is wrong with them.
    pub fn new(options: Options) -> Result<Arc<Self>, String> {
        let producer = Producer::new(&options)
            .map_err(|error| format!("Kafka cannot be used with these settings: {error}"))?;
        metrics::gauge!(names::KAFKA_UP).set(0.0);
        Ok(Arc::new(Self { options, producer, up: AtomicBool::new(false) }))
    }

    /// Whether a broker has answered lately.
    pub fn is_up(&self) -> bool {
        self.up.load(Ordering::Relaxed)
    }

    pub(in crate::dispatch) fn options(&self) -> &Options {
        &self.options
    }

    /// Sends a record; it has arrived when this returns.
    pub(in crate::dispatch) async fn send(&self, outgoing: Outgoing<'_>) -> Result<(), Unsent> {
        self.producer.send(outgoing).await
    }

    /// Writes a record to any topic, for measurements; the text says why it did not arrive.
    pub async fn write(&self, topic: &str, key: &str, payload: &[u8]) -> Result<(), String> {
        let (key, payload) = (Some(key.as_bytes()), Some(payload));
        let sent = self.send(Outgoing { topic, key, payload, headers: Vec::new() }).await;
        sent.map_err(|(Unsent::Again(why) | Unsent::Never(why))| why)
    }

    /// Reads until the host begins to stop. What was taken in by then is counted as read.
    ///
    /// The client blocks, so it has a thread of its own, which nobody waits for if it does not come back in time.
    pub async fn run(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        hub: &Hub,
        clock: &Arc<dyn Clock>,
        stop: CancellationToken,
    ) {
        let topics_changed = Arc::new(AtomicBool::new(true));
        tokio::spawn(probe::run(Arc::clone(self), Arc::clone(clock), stop.clone()));
        let (kafka, engine, clock) = (Arc::clone(self), Arc::clone(engine), Arc::clone(clock));
        let reader = Reader::new(kafka, engine, clock, Arc::clone(&topics_changed), stop);
        let (ended, mut end) = tokio::sync::oneshot::channel();
        let thread = std::thread::Builder::new().name("kafka".into()).spawn(move || {
            reader.run();
            let _ = ended.send(());
        });
        if let Err(error) = thread {
            tracing::error!(%error, "there is no thread for Kafka");
            return;
        }
        loop {
            tokio::select! {
                () = hub.topics_changed() => topics_changed.store(true, Ordering::Relaxed),
                ended = &mut end => {
                    assert!(ended.is_ok(), "the thread that reads from Kafka broke");
                    return;
                }
            }
        }
    }

    /// Notes whether a broker answers, and says so when that changes.
    fn answered(&self, up: bool) {
        if self.up.swap(up, Ordering::Relaxed) == up {
            return;
        }
        metrics::gauge!(names::KAFKA_UP).set(if up { 1.0 } else { 0.0 });
        if up {
            tracing::info!(brokers = self.options.brokers, "Kafka answers");
        } else {
            tracing::warn!(brokers = self.options.brokers, "Kafka does not answer; it is tried again");
        }
    }
}

/// What the client says goes to our log.
fn said(level: RDKafkaLogLevel, facility: &str, message: &str) {
    match level {
        RDKafkaLogLevel::Emerg | RDKafkaLogLevel::Alert | RDKafkaLogLevel::Critical => {
            tracing::error!(facility, message, "Kafka's client");
        }
        // What it calls an error is mostly a broker that is away, which we tell ourselves.
        RDKafkaLogLevel::Error | RDKafkaLogLevel::Warning => {
            tracing::info!(facility, message, "Kafka's client");
        }
        _ => tracing::debug!(facility, message, "Kafka's client"),
    }
}
