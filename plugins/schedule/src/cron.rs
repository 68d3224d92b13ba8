//! Cron expressions, right across daylight-saving changes.
//!
//! A job at fixed times of the day runs once for each of them: where clocks skip the time, at the first moment after the
//! gap; where it comes twice, the first time. A job that repeats (`*` or a step in hours, minutes or seconds) runs in
//! whatever hours there are.

mod fields;

use jiff::civil::DateTime;
use jiff::tz::AmbiguousOffset;
use jiff::{SignedDuration, Timestamp, ToSpan as _, Zoned};

use self::fields::Fields;
use super::{TEXT_BYTES_MAX, YEARS_MAX, Zone, timestamp};

/// Clock changes that are looked at in one search: more than a hundred years have.
const CHANGES_MAX: usize = 1_000;

/// A cron expression in a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    text: String,
    fields: Fields,
    zone: Zone,
}

impl Cron {
    /// Reads five fields, six (the first is seconds), or a name such as `@daily`; or says what is wrong.
    pub fn parse(text: &str, zone: Zone) -> Result<Self, String> {
        let trimmed = text.trim();
        let shown: String = trimmed.chars().take(TEXT_BYTES_MAX).collect();
        let wrong = |why: String| format!("\"{shown}\" is no cron expression: {why}");
        if trimmed.len() > TEXT_BYTES_MAX {
            return Err(wrong("it is too long".into()));
        }
        let fields = match trimmed.to_ascii_lowercase().as_str() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            name if name.starts_with('@') => {
                return Err(wrong("there are @yearly, @monthly, @weekly, @daily and @hourly".into()));
            }
            _ => trimmed,
        };
        let fields = Fields::parse(fields).map_err(wrong)?;
        Ok(Self { text: trimmed.to_owned(), fields, zone })
    }

    /// The first run after a moment; or a sentence: it never runs.
    pub fn next(&self, after_ms: i64) -> Result<i64, String> {
        let after = timestamp(after_ms)?;
        let next = if self.fields.repeats { self.repeating(after) } else { self.fixed(after) };
        next.map(Timestamp::as_millisecond)
            .ok_or_else(|| format!("\"{}\" never runs: no such day comes in {YEARS_MAX} years", self.text))
    }

    /// The next runs after a moment, up to so many.
    pub fn upcoming(&self, after_ms: i64, count: usize) -> Result<Vec<i64>, String> {
        let mut runs = vec![self.next(after_ms)?];
        while runs.len() < count {
            let Some(next) = runs.last().and_then(|last| self.next(*last).ok()) else { break };
            runs.push(next);
        }
        Ok(runs)
    }

    /// The first run of a job at times of the day: found by the clock on the wall, then looked up in the zone.
    fn fixed(&self, after: Timestamp) -> Option<Timestamp> {
        let mut wall = next_second(after.to_zoned(self.zone.0.clone()).datetime())?;
        loop {
            wall = self.fields.first_from(wall)?;
            let found = self.zone.0.to_ambiguous_zoned(wall);
            let run = match found.offset() {
                AmbiguousOffset::Gap { .. } => gap_end(&found.later().ok()?)?,
                AmbiguousOffset::Fold { .. } | AmbiguousOffset::Unambiguous { .. } => {
                    found.earlier().ok()?.timestamp()
                }
            };
            if run > after {
                return Some(run);
            }
            wall = next_second(wall)?;
        }
    }

    /// The first run of a job that repeats: the clock on the wall is followed from one change to the next.
    fn repeating(&self, after: Timestamp) -> Option<Timestamp> {
        let zone = &self.zone.0;
        let mut from = after;
        let mut wall = next_second(from.to_zoned(zone.clone()).datetime())?;
        for _ in 0..CHANGES_MAX {
            let found = zone.to_offset(from).to_timestamp(self.fields.first_from(wall)?).ok()?;
            match zone.following(from).next() {
                Some(change) if change.timestamp() <= found => {
                    from = change.timestamp();
                    wall = from.to_zoned(zone.clone()).datetime();
                }
                _ => return Some(found),
            }
        }
        None
    }
}

/// The next whole second on the wall.
fn next_second(wall: DateTime) -> Option<DateTime> {
    wall.with().subsec_nanosecond(0).build().ok()?.checked_add(1.second()).ok()
}

/// The end of the gap that a moment lies after, by as much as the time that was asked for lies in it.
fn gap_end(later: &Zoned) -> Option<Timestamp> {
    let change = later.time_zone().preceding(later.timestamp() + SignedDuration::from_nanos(1)).next()?;
    Some(change.timestamp())
}

#[cfg(test)]
mod tests;
