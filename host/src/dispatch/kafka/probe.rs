//! Whether a broker answers, asked beside everything else: what reads may itself be waiting for a broker that is away.

use std::sync::Arc;
use std::time::Duration;

use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use tokio_util::sync::CancellationToken;

use super::Kafka;
use super::watcher::Watcher;
use crate::domain::Clock;

/// How often a broker is asked for a sign of life.
const PROBE_EVERY: Duration = Duration::from_secs(5);
/// How long it has for that.
const PROBE_MAX: Duration = Duration::from_secs(2);

/// Asks until the stop, and notes the answers.
pub(super) async fn run(kafka: Arc<Kafka>, clock: Arc<dyn Clock>, stop: CancellationToken) {
    let mut config = kafka.options.client();
    config.set("allow.auto.create.topics", "false").set_log_level(RDKafkaLogLevel::Critical);
    let client = config.create_with_context(Watcher { look_back: None, clock });
    let client: Arc<BaseConsumer<Watcher>> = match client {
        Ok(client) => Arc::new(client),
        Err(error) => {
            tracing::error!(%error, "whether Kafka answers cannot be asked");
            return;
        }
    };
    loop {
        let (client, topic) = (Arc::clone(&client), kafka.options.dead_letter_topic.clone());
        let asked =
            tokio::task::spawn_blocking(move || client.fetch_metadata(Some(&topic), PROBE_MAX).is_ok());
        if let Ok(up) = asked.await {
            kafka.answered(up);
        }
        tokio::select! {
            () = tokio::time::sleep(PROBE_EVERY) => {}
            () = stop.cancelled() => return,
        }
    }
}
