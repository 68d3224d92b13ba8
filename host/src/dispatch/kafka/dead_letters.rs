//! Records that cannot be taken in: listed for operators, and sent as they were to the topic for dead letters.

use std::sync::Arc;

use super::record::{Reading, Record};
use super::{Kafka, Outgoing, Unsent};
use crate::domain::incoming::Rejection;
use crate::engine::{Engine, Error};
use crate::metrics as names;

/// Such a record, and why.
#[derive(Debug)]
pub(super) struct DeadLetter {
    pub(super) record: Record,
    pub(super) why: String,
}

/// Lists it with the events that were refused.
pub(super) async fn list(engine: &Arc<Engine>, reading: &Reading, letter: &DeadLetter) -> Result<(), Error> {
    let DeadLetter { record, why } = letter;
    let tenant = record.tenant(reading).unwrap_or_else(|_| reading.tenant.clone());
    let at = format!("partition {} offset {}: {why}", record.partition, record.offset);
    engine.reject_event(Some(&tenant), &record.topic, record.source(), Rejection::Unreadable, &at).await
}

/// Sends all of them; those that another try may bring there are returned. One that no try can bring there is listed, and
/// that must do.
pub(super) async fn send(kafka: &Kafka, letters: Vec<DeadLetter>) -> Vec<DeadLetter> {
    let sent = futures::future::join_all(letters.iter().map(|letter| send_one(kafka, letter))).await;
    let mut left = Vec::new();
    for (letter, sent) in letters.into_iter().zip(sent) {
        let topic = letter.record.topic.clone();
        match sent {
            Ok(()) => {
                metrics::counter!(names::KAFKA_DEAD_LETTERS, "topic" => topic).increment(1);
            }
            Err(Unsent::Again(error)) => {
                tracing::warn!(topic, error, "a dead letter was not sent yet");
                left.push(letter);
            }
            Err(Unsent::Never(error)) => {
                tracing::error!(topic, error, "a dead letter is listed, and cannot be sent to its topic");
                metrics::counter!(names::KAFKA_DEAD_LETTERS, "topic" => topic).increment(1);
            }
        }
    }
    left
}

/// The record as it was, with where it came from and what is wrong with it.
async fn send_one(kafka: &Kafka, letter: &DeadLetter) -> Result<(), Unsent> {
    let DeadLetter { record, why } = letter;
    let (partition, offset) = (record.partition.to_string(), record.offset.to_string());
    let mut headers: Vec<(&str, &[u8])> =
        record.headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    headers.extend([
        ("stepwell-topic", record.topic.as_bytes()),
        ("stepwell-partition", partition.as_bytes()),
        ("stepwell-offset", offset.as_bytes()),
        ("stepwell-error", why.as_bytes()),
    ]);
    let outgoing = Outgoing {
        topic: &kafka.options.dead_letter_topic,
        key: record.key.as_deref(),
        payload: record.payload.as_deref(),
        headers,
    };
    kafka.send(outgoing).await
}
