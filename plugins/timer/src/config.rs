//! What an author writes under `config`, and the moment that it means.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use stepwell_notice::{Notice, read};
use stepwell_schedule::{Cron, Zone, after, moment};

/// The configuration. In a trial, a field that a template will bring is null.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// How long: text, or a number of seconds.
    #[serde(default, deserialize_with = "given")]
    pub(crate) delay: Option<Value>,
    /// Until when.
    #[serde(default, deserialize_with = "given")]
    pub(crate) schedule_at: Option<Value>,
    /// Until the next run of this expression.
    #[serde(default, deserialize_with = "given")]
    pub(crate) cron: Option<Value>,
    /// The zone of all of them; UTC if absent.
    #[serde(default, deserialize_with = "given")]
    pub(crate) time_zone: Option<Value>,
    /// A note that goes out when the timer is due.
    #[serde(default, deserialize_with = "given")]
    pub(crate) reminder: Option<Value>,
}

/// When a timer is due.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Some time after now.
    Delay(i64),
    /// At a moment that does not depend on when the step began.
    Scheduled(i64),
    /// It depends on what a template will bring.
    Unknown,
}

impl Config {
    /// When the timer is due, or a sentence that begins with the field that makes no sense.
    pub(crate) fn due(&self, now_ms: i64) -> Result<Due, String> {
        let fields = [("delay", &self.delay), ("scheduleAt", &self.schedule_at), ("cron", &self.cron)];
        let mut found = fields.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let Some((field, value)) = found.next() else {
            return Err("one of `delay`, `scheduleAt` and `cron` is needed".into());
        };
        if let Some((other, _)) = found.next() {
            return Err(format!("{other}: cannot stand beside `{field}`; a timer has one of them"));
        }
        let named = self.zone()?;
        let Some(text) = text(field, value)? else { return Ok(Due::Unknown) };
        let zone = named.clone().unwrap_or(Zone::UTC);
        match field {
            "delay" => after(&text, now_ms, &zone).map(Due::Delay),
            "scheduleAt" if named.is_none() && self.time_zone.is_some() => {
                moment(&text, now_ms, Some(&zone)).map(|_| Due::Unknown)
            }
            "scheduleAt" => moment(&text, now_ms, named.as_ref()).map(Due::Scheduled),
            _ => Cron::parse(&text, zone).and_then(|cron| cron.next(now_ms)).map(Due::Scheduled),
        }
        .map_err(|sentence| format!("{field}: {sentence}"))
    }

    /// The note that goes out, if there is one and it is known; or a sentence that begins with its field.
    pub(crate) fn reminder(&self, now_ms: i64, waits_for_a_step: bool) -> Result<Option<Notice>, String> {
        let Some(reminder @ Value::Object(fields)) = &self.reminder else { return Ok(None) };
        if !matches!(fields.get("enabled"), Some(Value::Bool(true) | Value::Null)) {
            return Ok(None);
        }
        if fields.contains_key("every") && !fields.contains_key("max") && !waits_for_a_step {
            return Err(
                "reminder.every: would never end: say `max`, or name a step in `until` of the step".into()
            );
        }
        let notice = read(reminder, now_ms).map_err(|sentence| format!("reminder.{sentence}"))?;
        Ok(notice.filter(|_| fields.get("enabled") == Some(&Value::Bool(true))))
    }

    /// The zone, if there is one and it is known.
    fn zone(&self) -> Result<Option<Zone>, String> {
        let Some(value) = &self.time_zone else { return Ok(None) };
        let Some(name) = text("timeZone", value)? else { return Ok(None) };
        Zone::named(&name).map(Some).map_err(|sentence| format!("timeZone: {sentence}"))
    }
}

/// A field's text; none if it is not known yet.
fn text(field: &str, value: &Value) -> Result<Option<String>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Number(seconds) if field == "delay" => Ok(Some(seconds.to_string())),
        _ => Err(format!("{field}: is no text")),
    }
}

/// Unlike an absent field, null is something that was given.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
