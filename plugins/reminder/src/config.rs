//! What an author writes under `config`: when the first reminder goes out, and what all of them are.

use serde::Deserialize;
use serde_json::Value;
use stepwell_notice::{Notice, read};
use stepwell_schedule::{Zone, after, moment};

/// The configuration; null is what a template will bring.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Config(Value);

/// When the first reminder goes out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// At once.
    Now,
    /// At this time, in milliseconds.
    At(i64),
}

impl Config {
    /// All of it, as far as it is known; or a sentence that begins with the field that makes no sense.
    pub(crate) fn read(
        &self,
        now_ms: i64,
        waits_for_a_step: bool,
    ) -> Result<(Option<First>, Option<Notice>), String> {
        let first = self.first(now_ms)?;
        let notice = self.notice(now_ms)?;
        let given = |name: &str| self.0.get(name).is_some();
        if given("every") && !given("max") && !waits_for_a_step {
            return Err("every: would never end: say `max`, or name a step in `until` of the step".into());
        }
        Ok((first, notice))
    }

    /// What is sent.
    pub(crate) fn notice(&self, now_ms: i64) -> Result<Option<Notice>, String> {
        read(&self.0, now_ms)
    }

    /// None if it is not known yet.
    fn first(&self, now_ms: i64) -> Result<Option<First>, String> {
        let zone = match self.0.get("timeZone") {
            None => Some(None),
            Some(Value::String(name)) => {
                Some(Some(Zone::named(name).map_err(|why| format!("timeZone: {why}"))?))
            }
            Some(Value::Null) => None,
            Some(_) => return Err("timeZone: is no text".into()),
        };
        let known = zone.clone().flatten();
        let (delay, at) = (self.0.get("delay"), self.0.get("scheduleAt"));
        let (field, found) = match (delay, at) {
            (Some(_), Some(_)) => {
                return Err("scheduleAt: cannot stand beside `delay`; a reminder has one of them".into());
            }
            (None, None) => return Ok(Some(First::Now)),
            (_, Some(Value::Null)) | (Some(Value::Null), _) => return Ok(None),
            (Some(Value::String(text)), _) => ("delay", after(text, now_ms, &known.unwrap_or(Zone::UTC))),
            (Some(Value::Number(seconds)), _) => {
                ("delay", after(&seconds.to_string(), now_ms, &known.unwrap_or(Zone::UTC)))
            }
            (_, Some(Value::String(text))) if zone.is_none() => {
                ("scheduleAt", moment(text, now_ms, Some(&Zone::UTC)))
            }
            (_, Some(Value::String(text))) => ("scheduleAt", moment(text, now_ms, known.as_ref())),
            (Some(_), _) => return Err("delay: is a duration such as 2h".into()),
            (_, Some(_)) => return Err("scheduleAt: is no text".into()),
        };
        let at_ms = found.map_err(|why| format!("{field}: {why}"))?;
        Ok(zone.map(|_| First::At(at_ms)))
    }
}
