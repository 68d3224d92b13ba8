//! The way through Kafka: records are written, and the host's own figures tell when all of them have reached their instances.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use serde_json::json;
use uuid::Uuid;

use super::super::Error;
use super::events::failed;
use super::host::Host;
use crate::dispatch::kafka::Kafka;
use crate::metrics as names;
use crate::settings::{Flags, KafkaFlags, Settings};

/// Records that are on their way to the broker at once.
const UNDER_WAY_MAX: usize = 4_000;
/// How often the host is asked how far it is.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long nothing may happen.
const PATIENCE: Duration = Duration::from_secs(120);

/// A topic of one measurement.
pub(super) struct Way {
    kafka: Arc<Kafka>,
    brokers: String,
    topic: String,
}

impl Way {
    /// A new topic, which the broker makes with the first record.
    pub(super) fn new(brokers: &str) -> Result<Self, Error> {
        let flags = KafkaFlags { brokers: Some(brokers.to_owned()), ..KafkaFlags::default() };
        let settings = Settings::without_file(Flags { kafka: flags, ..Flags::default() })?;
        let options = settings.kafka.ok_or_else(|| Error::usage("--kafka: a broker is needed"))?;
        let topic = format!("stepwell-bench-{}", Uuid::now_v7().simple());
        Ok(Self { kafka: Kafka::new(options).map_err(failed)?, brokers: brokers.to_owned(), topic })
    }

    /// The topic; also the host's consumer group.
    pub(super) fn topic(&self) -> &str {
        &self.topic
    }

    /// What the host is started with.
    pub(super) fn arguments(&self) -> [&str; 4] {
        ["--kafka", &self.brokers, "--kafka-group", &self.topic]
    }

    /// Writes an event for each; the seconds until all of them have reached their instances.
    pub(super) async fn send(&self, host: &Host, started: &[(u32, Uuid)]) -> Result<f64, Error> {
        let wanted = delivered(host).await + f64::from(u32::try_from(started.len()).unwrap_or(u32::MAX));
        let begun = Instant::now();
        let (written, all) = tokio::join!(self.write(started), self.wait_for(host, wanted));
        written?;
        all?;
        Ok(begun.elapsed().as_secs_f64())
    }

    async fn write(&self, started: &[(u32, Uuid)]) -> Result<(), Error> {
        let mut under_way = futures::stream::iter(started.iter().copied())
            .map(|(number, id)| async move {
                let event =
                    json!({ "execution_id": id, "correlation_id": format!("c-{number}"), "type": "done" });
                self.kafka.write(&self.topic, &number.to_string(), event.to_string().as_bytes()).await
            })
            .buffer_unordered(UNDER_WAY_MAX);
        while let Some(written) = under_way.next().await {
            written.map_err(failed)?;
        }
        Ok(())
    }

    async fn wait_for(&self, host: &Host, wanted: f64) -> Result<(), Error> {
        let (mut seen, mut since) = (0.0, Instant::now());
        while seen < wanted {
            tokio::time::sleep(LOOK_EVERY).await;
            let now = delivered(host).await;
            if now > seen {
                (seen, since) = (now, Instant::now());
            }
            if since.elapsed() > PATIENCE {
                return Err(failed(format!("only {seen} of {wanted} events reached their instances")));
            }
        }
        Ok(())
    }
}

async fn delivered(host: &Host) -> f64 {
    host.figures().await.sum(names::KAFKA_RECORDS, "outcome=\"delivered\"")
}
