//! What the client tells while it reads: partitions that come and go, how far behind we are, what is wrong.

use std::sync::Arc;
use std::time::Duration;

use rdkafka::Statistics;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, ConsumerContext, Rebalance};
use rdkafka::error::{KafkaError, KafkaResult};
use rdkafka::topic_partition_list::TopicPartitionList;

use super::{said, start};
use crate::domain::Clock;
use crate::metrics as names;

/// Hears what a consumer tells.
pub(super) struct Watcher {
    /// How far back a topic is read that the group has never read.
    pub(super) look_back: Option<Duration>,
    /// Tells since when that is.
    pub(super) clock: Arc<dyn Clock>,
}

impl ClientContext for Watcher {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        said(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, reason, "the consumer of Kafka has trouble");
    }

    fn stats(&self, statistics: Statistics) {
        for (topic, about) in statistics.topics {
            for (partition, about) in about.partitions {
                // Unknown until the first answer, and for partitions that others read.
                if partition >= 0 && about.consumer_lag_stored >= 0 && about.desired {
                    lag(&topic, partition, about.consumer_lag_stored);
                }
            }
        }
    }
}

impl ConsumerContext for Watcher {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Assign(partitions) = rebalance {
            start::settle(consumer, partitions, self.look_back, self.clock.now());
        }
    }

    fn post_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let (change, partitions) = match rebalance {
            Rebalance::Assign(partitions) => ("assigned", partitions.count()),
            Rebalance::Revoke(partitions) => {
                forget(partitions);
                ("revoked", partitions.count())
            }
            Rebalance::Error(error) => {
                tracing::warn!(%error, "partitions could not be shared out");
                ("failed", 0)
            }
        };
        metrics::counter!(names::KAFKA_REBALANCES, "change" => change).increment(1);
        tracing::info!(change, partitions, "partitions of Kafka were shared out anew");
    }

    fn commit_callback(&self, result: KafkaResult<()>, _: &TopicPartitionList) {
        if let Err(error) = result {
            // What was read is read again, by us or by another host; nothing is lost.
            tracing::debug!(%error, "the place in Kafka was not noted");
        }
    }
}

/// Another host reads them now.
fn forget(partitions: &TopicPartitionList) {
    for partition in partitions.elements() {
        lag(partition.topic(), partition.partition(), 0);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a gauge is a float; beyond 2^53 records nobody counts")]
fn lag(topic: &str, partition: i32, records: i64) {
    let labels = [("topic", topic.to_owned()), ("partition", partition.to_string())];
    metrics::gauge!(names::KAFKA_LAG, &labels).set(records as f64);
}
