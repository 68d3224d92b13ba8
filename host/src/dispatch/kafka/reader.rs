//! The loop that reads: topics that workflows name, records in batches, and the group's place after each.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::message::{BorrowedMessage, Headers as _, Message as _};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::Kafka;
use super::intake::Intake;
use super::record::Record;
use super::watcher::Watcher;
use crate::domain::{Clock, topic};
use crate::engine::Engine;

/// Records that are taken in together.
const BATCH_RECORDS_MAX: usize = 256;
/// Bytes of records that are taken in together; one record may be more.
const BATCH_BYTES_MAX: usize = 4 << 20;
/// Records of a partition that are fetched ahead.
const AHEAD_RECORDS_MIN: u32 = 4_000;
/// Kilobytes that are fetched ahead; with them reached, nothing more is fetched.
const AHEAD_KILOBYTES_MAX: u32 = 16_384;
/// The wait before a full queue is looked at again.
const FULL_QUEUE_WAIT_MS: u32 = 20;
/// A host that is silent for so long has died: others take its partitions.
const SILENCE_MS_MAX: u32 = 10_000;
/// The time between two signs of life.
const SIGN_OF_LIFE_MS: u32 = 2_000;
/// The time between two notes of the group's place.
const COMMIT_EVERY_MS: u32 = 1_000;
/// The time between two looks for topics that were made meanwhile.
const METADATA_EVERY_MS: u32 = 5_000;
/// The time between two figures of how far behind we are.
const STATISTICS_EVERY_MS: u32 = 2_000;
/// The time between two looks at the topics that workflows name; a deployment is told at once, mostly.
const TOPICS_EVERY: Duration = Duration::from_secs(30);
/// How long to wait for a first record.
const POLL_MAX: Duration = Duration::from_millis(100);
/// The pause after a consumer that broke.
const RESTART_PAUSE: Duration = Duration::from_secs(2);

/// Reads for one host.
pub(super) struct Reader {
    kafka: Arc<Kafka>,
    engine: Arc<Engine>,
    clock: Arc<dyn Clock>,
    intake: Intake,
    runtime: Handle,
    topics_changed: Arc<AtomicBool>,
    stop: CancellationToken,
}

impl Reader {
    /// A reader; made on the runtime that the engine runs on.
    pub(super) fn new(
        kafka: Arc<Kafka>,
        engine: Arc<Engine>,
        clock: Arc<dyn Clock>,
        topics_changed: Arc<AtomicBool>,
        stop: CancellationToken,
    ) -> Self {
        let intake = Intake::new(Arc::clone(&kafka), Arc::clone(&engine), stop.clone());
        Self { kafka, engine, clock, intake, runtime: Handle::current(), topics_changed, stop }
    }

    /// Reads until the stop.
    pub(super) fn run(&self) {
        while !self.stop.is_cancelled() {
            let Err(error) = self.read() else { return };
            tracing::error!(%error, "reading from Kafka broke off, and begins again");
            self.topics_changed.store(true, Ordering::Relaxed);
            std::thread::sleep(RESTART_PAUSE);
        }
    }

    /// Reads with one consumer. Its end notes the group's place and leaves the group.
    fn read(&self) -> KafkaResult<()> {
        let consumer = self.consumer()?;
        let mut subscribed = Vec::new();
        let mut asked_at = None;
        while !self.stop.is_cancelled() {
            if self.topics_changed.swap(false, Ordering::Relaxed) || is_over(asked_at, TOPICS_EVERY) {
                asked_at = Some(Instant::now());
                self.follow_topics(&consumer, &mut subscribed)?;
            }
            let records = gather(&consumer)?;
            if records.is_empty() {
                continue;
            }
            let reached = places(&records)?;
            if self.runtime.block_on(self.intake.take(records)) {
                note(&consumer, &reached);
            }
        }
        Ok(())
    }

    fn consumer(&self) -> KafkaResult<BaseConsumer<Watcher>> {
        let options = &self.kafka.options;
        let mut config = options.client();
        config
            .set("group.id", &options.group)
            .set("partition.assignment.strategy", "cooperative-sticky")
            .set("session.timeout.ms", SILENCE_MS_MAX.to_string())
            .set("heartbeat.interval.ms", SIGN_OF_LIFE_MS.to_string())
            // Only what is noted here after its commit is ever told to the group: see `note`.
            .set("enable.auto.offset.store", "false")
            .set("enable.auto.commit", "true")
            .set("auto.commit.interval.ms", COMMIT_EVERY_MS.to_string())
            // A place that the broker has no longer: what it still has is read.
            .set("auto.offset.reset", "earliest")
            .set("queued.min.messages", AHEAD_RECORDS_MIN.to_string())
            .set("queued.max.messages.kbytes", AHEAD_KILOBYTES_MAX.to_string())
            .set("fetch.queue.backoff.ms", FULL_QUEUE_WAIT_MS.to_string())
            .set("topic.metadata.refresh.interval.ms", METADATA_EVERY_MS.to_string())
            .set("allow.auto.create.topics", "false")
            .set("statistics.interval.ms", STATISTICS_EVERY_MS.to_string())
            .set_log_level(RDKafkaLogLevel::Warning);
        config.create_with_context(Watcher { look_back: options.look_back, clock: Arc::clone(&self.clock) })
    }

    /// Subscribes to what deployed workflows name. While the database is away, it stays as it was.
    fn follow_topics(
        &self,
        consumer: &BaseConsumer<Watcher>,
        subscribed: &mut Vec<String>,
    ) -> KafkaResult<()> {
        let mut named = match self.runtime.block_on(self.engine.event_topics()) {
            Ok(named) => named,
            Err(error) => {
                tracing::warn!(%error, "which topics workflows name is not known; asked again soon");
                self.topics_changed.store(true, Ordering::Relaxed);
                std::thread::sleep(RESTART_PAUSE);
                return Ok(());
            }
        };
        // What we write ourselves for people to look at is not ours to read.
        named.retain(|name| topic::is_legal(name) && *name != self.kafka.options.dead_letter_topic);
        if named == *subscribed {
            return Ok(());
        }
        tracing::info!(topics = ?named, "reads from Kafka");
        let names: Vec<&str> = named.iter().map(String::as_str).collect();
        if names.is_empty() {
            consumer.unsubscribe();
        } else {
            consumer.subscribe(&names)?;
        }
        *subscribed = named;
        Ok(())
    }
}

/// What is there, up to a batch; nothing, if nothing comes for a while.
fn gather(consumer: &BaseConsumer<Watcher>) -> KafkaResult<Vec<Record>> {
    let (mut records, mut bytes) = (Vec::new(), 0);
    let mut wait = POLL_MAX;
    while records.len() < BATCH_RECORDS_MAX && bytes < BATCH_BYTES_MAX {
        match consumer.poll(wait) {
            Some(Ok(message)) => {
                let record = own(&message);
                bytes += record.bytes();
                records.push(record);
                wait = Duration::ZERO;
            }
            None => break,
            Some(Err(error @ KafkaError::MessageConsumptionFatal(_))) => return Err(error),
            Some(Err(error)) if is_missing(&error) => {
                tracing::info!(%error, "a topic that a workflow names is not there yet");
            }
            Some(Err(error)) => tracing::debug!(%error, "no record"),
        }
    }
    Ok(records)
}

fn is_missing(error: &KafkaError) -> bool {
    error.rdkafka_error_code() == Some(RDKafkaErrorCode::UnknownTopicOrPartition)
}

fn own(message: &BorrowedMessage<'_>) -> Record {
    let headers = message.headers().map(|headers| {
        let own = |header: rdkafka::message::Header<'_, &[u8]>| {
            (header.key.to_owned(), header.value.unwrap_or_default().to_vec())
        };
        headers.iter().map(own).collect()
    });
    Record {
        topic: message.topic().to_owned(),
        partition: message.partition(),
        offset: message.offset(),
        written_at_ms: message.timestamp().to_millis(),
        key: message.key().map(<[u8]>::to_vec),
        payload: message.payload().map(<[u8]>::to_vec),
        headers: headers.unwrap_or_default(),
    }
}

/// How far a batch reaches in each partition: the place of the next record.
fn places(records: &[Record]) -> KafkaResult<TopicPartitionList> {
    let mut next: BTreeMap<(&str, i32), i64> = BTreeMap::new();
    for record in records {
        let place = next.entry((&record.topic, record.partition)).or_default();
        *place = (*place).max(record.offset.saturating_add(1));
    }
    let mut places = TopicPartitionList::new();
    for ((topic, partition), offset) in next {
        places.add_partition_offset(topic, partition, Offset::Offset(offset))?;
    }
    Ok(places)
}

/// Everything before these places is committed: the group may go on from there.
fn note(consumer: &BaseConsumer<Watcher>, reached: &TopicPartitionList) {
    if let Err(error) = consumer.store_offsets(reached) {
        // The partition went to another host meanwhile, which reads the records again.
        tracing::debug!(%error, "the place in Kafka was not noted");
    }
}

fn is_over(since: Option<Instant>, wait: Duration) -> bool {
    since.is_none_or(|since| since.elapsed() >= wait)
}
