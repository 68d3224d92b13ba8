//! When something is due: delays, moments and cron expressions, in time zones.
//!
//! Used by the step type `TIMER`, inside its component, and by the host. There is no clock in here: whoever asks brings
//! the time along, in milliseconds since the Unix epoch. The rules of the time zones are compiled in, so the same question
//! has the same answer on every machine.

mod cron;
mod delay;
mod moment;

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use cron::Cron;
pub use delay::after;
pub use moment::moment;

/// Nothing is planned further ahead than this.
pub const YEARS_MAX: i16 = 100;

/// The longest text that is read, in bytes.
const TEXT_BYTES_MAX: usize = 200;

/// A time zone of the IANA database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone without rules.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// A zone by its name, such as `Europe/Prague`, or a sentence that says what is wrong.
    pub fn named(name: &str) -> Result<Self, String> {
        if name.len() > TEXT_BYTES_MAX {
            return Err("is no time zone: its name is too long".into());
        }
        TimeZone::get(name).map(Self).map_err(|_| {
            format!(
                "\"{name}\" is no time zone: write a name of the IANA database, such as Europe/Prague or UTC"
            )
        })
    }

    /// A moment as people of this zone write it: `2026-03-29T03:00:00+02:00`.
    pub fn show(&self, millis: i64) -> String {
        let Ok(moment) = Timestamp::from_millisecond(millis) else { return "beyond the calendar".into() };
        let here = moment.to_zoned(self.0.clone());
        here.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }
}

/// A moment in UTC, to the millisecond: `2026-03-29T01:00:00.000Z`.
pub fn show_utc(millis: i64) -> String {
    match Timestamp::from_millisecond(millis) {
        Ok(moment) => format!("{moment:.3}"),
        Err(_) => "beyond the calendar".into(),
    }
}

/// The moment of some milliseconds.
fn timestamp(millis: i64) -> Result<Timestamp, String> {
    Timestamp::from_millisecond(millis).map_err(|_| "lies beyond the calendar".to_owned())
}

/// A moment that is not further ahead than anything may be planned.
fn near_enough(moment: Timestamp, now: Timestamp) -> Result<i64, String> {
    let years = i64::from(YEARS_MAX) * 365 * 86_400_000;
    if moment.as_millisecond().saturating_sub(now.as_millisecond()) >= years {
        return Err(format!("lies {YEARS_MAX} years ahead or more"));
    }
    Ok(moment.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_have_names() {
        for name in ["UTC", "Europe/Prague", "America/New_York", "europe/prague", "Etc/GMT+5"] {
            assert!(Zone::named(name).is_ok(), "{name}");
        }
        for name in ["", "Mars/Phobos", "CEST+9", "Europe/", "../etc/passwd", "ř"] {
            let sentence = Zone::named(name).expect_err(name);
            assert!(sentence.contains("no time zone") && sentence.contains(name), "{sentence}");
        }
        assert!(Zone::named(&"x".repeat(10_000)).is_err_and(|sentence| sentence.len() < 100));
    }

    #[test]
    fn a_moment_is_shown_in_its_zone() {
        let prague = Zone::named("Europe/Prague").expect("it is there");
        assert_eq!(prague.show(1_774_746_000_000), "2026-03-29T03:00:00+02:00");
        assert_eq!(prague.show(1_774_746_000_000 - 1), "2026-03-29T01:59:59+01:00");
        assert_eq!(show_utc(1_774_746_000_000), "2026-03-29T01:00:00.000Z");
    }
}
