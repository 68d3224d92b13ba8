//! A plain client of Kafka for tests: makes topics, writes records, reads what is there.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::message::{Header, Headers as _, Message as _, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use serde_json::Value;
use tokio::time::Instant;

use crate::host::PATIENCE;

/// How long a broker has for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// A record that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its key.
    pub key: Option<String>,
    /// Its body.
    pub payload: String,
    /// Its headers.
    pub headers: BTreeMap<String, String>,
}

impl Found {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.payload).unwrap_or_default()
    }
}

/// A client of one broker.
pub struct Records {
    brokers: String,
    producer: FutureProducer,
}

impl Records {
    /// A client of the broker at an address.
    pub fn at(brokers: &str) -> Result<Self> {
        Self::compressing(brokers, "none")
    }

    /// One that compresses what it writes.
    pub fn compressing(brokers: &str, codec: &str) -> Result<Self> {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", brokers).set("message.timeout.ms", "60000").set("linger.ms", "1");
        config.set("compression.type", codec);
        Ok(Self { brokers: brokers.to_owned(), producer: config.create()? })
    }

    /// Makes a topic.
    pub async fn make(&self, topic: &str, partitions: i32) -> Result<()> {
        let admin: AdminClient<DefaultClientContext> =
            ClientConfig::new().set("bootstrap.servers", &self.brokers).create()?;
        let new = NewTopic::new(topic, partitions, TopicReplication::Fixed(1));
        let options = AdminOptions::new().operation_timeout(Some(ANSWER_MAX));
        for made in admin.create_topics([&new], &options).await? {
            made.map_err(|(topic, error)| anyhow::anyhow!("{topic}: {error}"))?;
        }
        Ok(())
    }

    /// Writes a record; it is there when this returns.
    pub async fn write(
        &self,
        topic: &str,
        key: &str,
        payload: &[u8],
        headers: &[(&str, &str)],
    ) -> Result<()> {
        let headers = headers
            .iter()
            .fold(OwnedHeaders::new(), |all, (key, value)| all.insert(Header { key, value: Some(*value) }));
        let record = FutureRecord::to(topic).key(key).payload(payload).headers(headers);
        self.producer.send(record, ANSWER_MAX).await.map_err(|(error, _)| error)?;
        Ok(())
    }

    /// Writes a record of JSON.
    pub async fn write_json(&self, topic: &str, key: &str, payload: &Value) -> Result<()> {
        self.write(topic, key, payload.to_string().as_bytes(), &[]).await
    }

    /// Reads a topic from its beginning until so many records were found.
    pub async fn read(&self, topic: &str, count: usize) -> Result<Vec<Found>> {
        let (brokers, topic) = (self.brokers.clone(), topic.to_owned());
        tokio::task::spawn_blocking(move || read(&brokers, &topic, count)).await?
    }

    /// The place of a group in a topic, all partitions together.
    pub async fn committed(&self, group: &str, topic: &str) -> Result<i64> {
        let (brokers, group, topic) = (self.brokers.clone(), group.to_owned(), topic.to_owned());
        tokio::task::spawn_blocking(move || {
            let consumer: BaseConsumer =
                ClientConfig::new().set("bootstrap.servers", &brokers).set("group.id", &group).create()?;
            let committed = consumer.committed_offsets(partitions(&consumer, &topic)?, ANSWER_MAX)?;
            let places = committed.elements().into_iter().map(|place| place.offset().to_raw().unwrap_or(0));
            Ok(places.map(|place| place.max(0)).sum())
        })
        .await?
    }
}

fn partitions(consumer: &BaseConsumer, topic: &str) -> Result<TopicPartitionList> {
    let metadata = consumer.fetch_metadata(Some(topic), ANSWER_MAX)?;
    let mut all = TopicPartitionList::new();
    for partition in metadata.topics().iter().flat_map(|topic| topic.partitions()) {
        all.add_partition_offset(topic, partition.id(), Offset::Beginning)?;
    }
    Ok(all)
}

fn read(brokers: &str, topic: &str, count: usize) -> Result<Vec<Found>> {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers).set("group.id", "reader").set("enable.auto.commit", "false");
    let consumer: BaseConsumer = config.create()?;
    let deadline = Instant::now() + PATIENCE;
    let all = loop {
        let all = partitions(&consumer, topic)?;
        if all.count() > 0 {
            break all;
        }
        ensure!(Instant::now() < deadline, "there is no topic {topic}");
        std::thread::sleep(Duration::from_millis(100));
    };
    consumer.assign(&all)?;
    let mut found = Vec::new();
    while found.len() < count {
        ensure!(Instant::now() < deadline, "only {} of {count} records in {topic}: {found:?}", found.len());
        let Some(message) = consumer.poll(Duration::from_millis(200)) else { continue };
        let message = message.context("a record")?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = message.headers().map(|headers| {
            let pair =
                |header: Header<'_, &[u8]>| (header.key.to_owned(), text(header.value.unwrap_or_default()));
            headers.iter().map(pair).collect()
        });
        found.push(Found {
            key: message.key().map(text),
            payload: text(message.payload().unwrap_or_default()),
            headers: headers.unwrap_or_default(),
        });
    }
    Ok(found)
}
