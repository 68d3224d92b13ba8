//! `event`: a trigger that waits for events of a topic.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::domain::trigger::EventTrigger;
use crate::engine::definition::parse::{kind, names, text};
use crate::engine::definition::report::{Field, Report};

const FIELDS: [&str; 4] = ["event", "id", "filter", "businessKeyField"];
/// The longest topic that Kafka takes.
const TOPIC_BYTES_MAX: usize = 249;

/// Reads the fields of a trigger with `event`.
pub(super) fn read(
    members: &Map<String, Value>,
    field: &Field,
    report: &mut Report<'_>,
) -> Option<EventTrigger> {
    names(members, field, &FIELDS, &[], report);
    let filter = match members.get("filter") {
        None | Some(Value::Null) => BTreeMap::new(),
        Some(Value::Object(filter)) => filter.clone().into_iter().collect(),
        Some(other) => {
            let message = format!("`filter` is an object from path to value, not {}", kind(other));
            report.add(&field.key("filter"), message);
            BTreeMap::new()
        }
    };
    let business_key_field = text(members, "businessKeyField", field, report);
    let topic = match members.get("event") {
        Some(Value::Null) => {
            report.add(&field.key("event"), "`event` is empty: write the topic");
            return None;
        }
        _ => text(members, "event", field, report)?,
    };
    if topic.is_empty() || topic.len() > TOPIC_BYTES_MAX || topic.contains(char::is_control) {
        report.add(&field.key("event"), format!("`event` is a topic of 1 to {TOPIC_BYTES_MAX} bytes"));
    }
    Some(EventTrigger { topic, filter, business_key_field })
}
