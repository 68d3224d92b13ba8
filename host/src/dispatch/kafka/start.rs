//! Where a partition is read from that the group has never read.
//!
//! Its end would be too late: records that came between a deployment and the first look would be lost. Its beginning would
//! be too early: a workflow that is started by a topic would be started for all that it ever held. So it is read from
//! some minutes back, and that place is noted in the group at once: who takes the partition over begins there, too.

use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _};
use rdkafka::error::KafkaResult;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use super::watcher::Watcher;
use crate::domain::Timestamp;

/// How long a broker has for each answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// Notes a place for each partition that has none. If that fails, the partition is read from its beginning.
pub(super) fn settle(
    consumer: &BaseConsumer<Watcher>,
    partitions: &TopicPartitionList,
    look_back: Option<Duration>,
    now: Timestamp,
) {
    let Some(look_back) = look_back else { return };
    let back_ms = i64::try_from(look_back.as_millis()).unwrap_or(i64::MAX);
    let since_ms = now.millis().saturating_sub(back_ms).max(0);
    match try_settle(consumer, partitions, since_ms) {
        Ok(0) => {}
        Ok(new) => {
            tracing::info!(new, seconds = look_back.as_secs(), "partitions are read for the first time")
        }
        Err(error) => tracing::warn!(%error, "where to begin is not known: new partitions are read whole"),
    }
}

fn try_settle(
    consumer: &BaseConsumer<Watcher>,
    partitions: &TopicPartitionList,
    since_ms: i64,
) -> KafkaResult<usize> {
    let committed = consumer.committed_offsets(partitions.clone(), ANSWER_MAX)?;
    let mut wanted = TopicPartitionList::new();
    let mut ends = Vec::new();
    for partition in committed.elements() {
        if partition.offset() != Offset::Invalid {
            continue;
        }
        let (topic, number) = (partition.topic().to_owned(), partition.partition());
        // First the end, then the times: what comes between the two is behind the end, and is read.
        let (_, end) = consumer.fetch_watermarks(&topic, number, ANSWER_MAX)?;
        wanted.add_partition_offset(&topic, number, Offset::Offset(since_ms))?;
        ends.push((topic, number, end));
    }
    if ends.is_empty() {
        return Ok(0);
    }
    let found = consumer.offsets_for_times(wanted, ANSWER_MAX)?;
    let mut places = TopicPartitionList::new();
    for (topic, number, end) in &ends {
        let place = found.find_partition(topic, *number).map(|partition| partition.offset());
        let place = match place {
            Some(Offset::Offset(offset)) if offset >= 0 => offset,
            _ => *end,
        };
        places.add_partition_offset(topic, *number, Offset::Offset(place))?;
    }
    consumer.commit(&places, CommitMode::Sync)?;
    Ok(ends.len())
}
