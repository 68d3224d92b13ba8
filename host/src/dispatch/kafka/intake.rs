//! A batch of records is taken in: events by the engine, the rest as dead letters. No record is passed over before that is
//! durable, and none holds up its partition for ever.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Kafka;
use super::dead_letters::{self, DeadLetter};
use super::record::{Read, Reading, Record};
use crate::dispatch::backoff;
use crate::domain::incoming::Receipt;
use crate::engine::{Engine, Error};
use crate::metrics as names;

/// Tries of an event that is refused for the moment, by an instance that is busy; then it is a dead letter.
const BUSY_TRIES_MAX: u32 = 12;
/// The wait after the first failure; doubled from one to the next.
const RETRY_FIRST: Duration = Duration::from_millis(50);
/// The longest wait.
const RETRY_LONGEST: Duration = Duration::from_secs(3);

/// Takes records in.
pub(super) struct Intake {
    kafka: Arc<Kafka>,
    engine: Arc<Engine>,
    reading: Reading,
    stop: CancellationToken,
}

impl Intake {
    pub(super) fn new(kafka: Arc<Kafka>, engine: Arc<Engine>, stop: CancellationToken) -> Self {
        let reading = Reading {
            tenant: kafka.options.tenant.clone(),
            tenant_header: kafka.options.tenant_header.clone(),
            payload_bytes_max: engine.limits().payload_bytes_max,
        };
        Self { kafka, engine, reading, stop }
    }

    /// Takes a batch in, however long that takes; false if the host stops first, and the batch is not done.
    pub(super) async fn take(&self, records: Vec<Record>) -> bool {
        let (mut pending, mut dead) = (records, Vec::new());
        let (mut failures, mut busy_tries) = (0_u32, 0);
        loop {
            let (left, away) = self.try_once(pending, &mut dead).await;
            if left.is_empty() {
                break;
            }
            failures = failures.saturating_add(1);
            busy_tries += u32::from(!away);
            if busy_tries >= BUSY_TRIES_MAX {
                dead.extend(left.into_iter().map(|(record, why)| DeadLetter { record, why }));
                break;
            }
            pending = left.into_iter().map(|(record, _)| record).collect();
            if !self.pause(failures).await {
                return false;
            }
        }
        self.bury(dead).await
    }

    /// What is left for another try, each with its reason, and whether the database is away.
    async fn try_once(
        &self,
        records: Vec<Record>,
        dead: &mut Vec<DeadLetter>,
    ) -> (Vec<(Record, String)>, bool) {
        let (mut events, mut sent) = (Vec::with_capacity(records.len()), Vec::with_capacity(records.len()));
        for record in records {
            match record.read(&self.reading) {
                Read::Event(event) => {
                    let span = record.span();
                    events.push((*event, span));
                    sent.push(record);
                }
                Read::Empty => count(&record, "empty"),
                Read::Unreadable(why) => dead.push(DeadLetter { record, why }),
            }
        }
        let (mut left, mut away) = (Vec::new(), false);
        if events.is_empty() {
            return (left, away);
        }
        let received = self.engine.receive_events(events).await;
        for (record, received) in sent.into_iter().zip(received) {
            match received {
                Ok(receipt) => count(&record, outcome(&receipt)),
                Err(error @ (Error::Store(_) | Error::Busy { .. } | Error::Conflict { .. })) => {
                    away |= matches!(error, Error::Store(_));
                    left.push((record, error.to_string()));
                }
                Err(error) => dead.push(DeadLetter { record, why: error.to_string() }),
            }
        }
        if let Some((record, why)) = left.first() {
            let (topic, count) = (&record.topic, left.len());
            tracing::warn!(topic, count, why, "records were not taken in yet, and are tried again");
        }
        (left, away)
    }

    /// Puts what cannot be taken in where people find it: into the list, then into the topic.
    async fn bury(&self, dead: Vec<DeadLetter>) -> bool {
        for letter in &dead {
            let mut failures = 0_u32;
            while let Err(error) = dead_letters::list(&self.engine, &self.reading, letter).await {
                tracing::warn!(%error, "a dead letter was not listed yet");
                failures = failures.saturating_add(1);
                if !self.pause(failures).await {
                    return false;
                }
            }
            count(&letter.record, "dead");
        }
        let mut pending = dead;
        let mut failures = 0_u32;
        loop {
            pending = dead_letters::send(&self.kafka, pending).await;
            if pending.is_empty() {
                return true;
            }
            failures = failures.saturating_add(1);
            if !self.pause(failures).await {
                return false;
            }
        }
    }

    /// Waits before another try; false if the host stops.
    async fn pause(&self, failures: u32) -> bool {
        tokio::select! {
            () = tokio::time::sleep(backoff::after(failures, RETRY_FIRST, RETRY_LONGEST)) => true,
            () = self.stop.cancelled() => false,
        }
    }
}

fn outcome(receipt: &Receipt) -> &'static str {
    if receipt.delivered > 0 {
        "delivered"
    } else if !receipt.started.is_empty() {
        "started"
    } else if receipt.kept > 0 {
        "kept"
    } else if receipt.repeated > 0 {
        "repeated"
    } else {
        "rejected"
    }
}

fn count(record: &Record, outcome: &'static str) {
    let labels = [("topic", record.topic.clone()), ("outcome", outcome.to_owned())];
    metrics::counter!(names::KAFKA_RECORDS, &labels).increment(1);
}
