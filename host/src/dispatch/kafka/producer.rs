//! What leaves for Kafka. A record counts as sent when all replicas that are in step have it.

use std::time::Duration;

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord};

use super::options::Options;
use super::said;

/// How long a record may be under way. It is less than the lease of an item of the outbox.
const DELIVERY_MS_MAX: u32 = 20_000;
/// How long a record waits for a place in the queue.
const QUEUE_WAIT_MAX: Duration = Duration::from_secs(5);
/// Records that wait to be sent.
const QUEUED_RECORDS_MAX: u32 = 10_000;
/// Kilobytes of them.
const QUEUED_KILOBYTES_MAX: u32 = 65_536;
/// How long a record waits for others to travel with.
const LINGER_MS: u32 = 2;

/// Why a record did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dispatch) enum Unsent {
    /// Another try may go better.
    Again(String),
    /// No other try would.
    Never(String),
}

/// A record that is to leave.
pub(in crate::dispatch) struct Outgoing<'a> {
    pub(in crate::dispatch) topic: &'a str,
    pub(in crate::dispatch) key: Option<&'a [u8]>,
    pub(in crate::dispatch) payload: Option<&'a [u8]>,
    pub(in crate::dispatch) headers: Vec<(&'a str, &'a [u8])>,
}

/// Sends records, each once even if a broker did not answer.
pub(super) struct Producer {
    inner: FutureProducer<Silent>,
}

impl Producer {
    pub(super) fn new(options: &Options) -> Result<Self, KafkaError> {
        let mut config = options.client();
        config
            .set("enable.idempotence", "true")
            .set("message.timeout.ms", DELIVERY_MS_MAX.to_string())
            .set("queue.buffering.max.messages", QUEUED_RECORDS_MAX.to_string())
            .set("queue.buffering.max.kbytes", QUEUED_KILOBYTES_MAX.to_string())
            .set("linger.ms", LINGER_MS.to_string())
            .set_log_level(RDKafkaLogLevel::Warning);
        Ok(Self { inner: config.create_with_context(Silent)? })
    }

    /// Sends a record; it has arrived when this returns.
    pub(super) async fn send(&self, outgoing: Outgoing<'_>) -> Result<(), Unsent> {
        let mut headers = OwnedHeaders::new_with_capacity(outgoing.headers.len());
        for (key, value) in &outgoing.headers {
            headers = headers.insert(Header { key, value: Some(*value) });
        }
        let mut record: FutureRecord<'_, [u8], [u8]> = FutureRecord::to(outgoing.topic).headers(headers);
        record.key = outgoing.key;
        record.payload = outgoing.payload;
        match self.inner.send(record, QUEUE_WAIT_MAX).await {
            Ok(_) => Ok(()),
            Err((error, _)) => Err(judge(&error)),
        }
    }
}

/// Whether another try may go better.
fn judge(error: &KafkaError) -> Unsent {
    use RDKafkaErrorCode as Code;
    let never = matches!(
        error.rdkafka_error_code(),
        Some(
            Code::MessageSizeTooLarge
                | Code::InvalidTopic
                | Code::TopicAuthorizationFailed
                | Code::ClusterAuthorizationFailed
                | Code::PolicyViolation
                | Code::InvalidMessage
                | Code::InvalidRecord
        )
    );
    if never { Unsent::Never(error.to_string()) } else { Unsent::Again(error.to_string()) }
}

/// A producer has nothing to tell that its records do not.
struct Silent;

impl ClientContext for Silent {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        said(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, reason, "the producer for Kafka has trouble");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_try_can_mend_is_not_tried_again() {
        let judged = |code| judge(&KafkaError::MessageProduction(code));
        assert!(matches!(judged(RDKafkaErrorCode::MessageSizeTooLarge), Unsent::Never(_)));
        assert!(matches!(judged(RDKafkaErrorCode::TopicAuthorizationFailed), Unsent::Never(_)));
        assert!(matches!(judged(RDKafkaErrorCode::MessageTimedOut), Unsent::Again(_)));
        assert!(matches!(judged(RDKafkaErrorCode::UnknownTopic), Unsent::Again(_)));
    }
}
