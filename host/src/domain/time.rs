//! Time is injected: the engine asks a [`Clock`], never the machine.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use serde::{Deserialize, Serialize};

/// The first moment of the year 1, and the last that fits four digits of a year: text of it sorts, and both databases
/// take it.
const MILLIS: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

/// A moment, UTC, to the millisecond, in the years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the Unix epoch; stops at the ends of time.
    pub const fn from_millis(millis: i64) -> Self {
        if millis < *MILLIS.start() {
            return Self(*MILLIS.start());
        }
        if millis > *MILLIS.end() {
            return Self(*MILLIS.end());
        }
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Later by some milliseconds; stops at the end of time rather than wrap.
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// The time from `earlier` to this, zero if it lies behind.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0).max(0).unsigned_abs())
    }
}

impl fmt::Display for Timestamp {
    /// Always the same width, so that text sorts as time does. Every answer has several: the digits are set one by one,
    /// without the calendar's formats, which are made for any width.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = DateTime::<Utc>::from_timestamp_millis(self.0).unwrap_or_default();
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let parts = [
            (3, time.year().unsigned_abs()),
            (6, time.month()),
            (9, time.day()),
            (12, time.hour()),
            (15, time.minute()),
            (18, time.second()),
            (22, time.timestamp_subsec_millis()),
        ];
        for (last, mut number) in parts {
            let mut at = last;
            while number > 0 {
                text[at] += u8::try_from(number % 10).unwrap_or_default();
                number /= 10;
                at = at.saturating_sub(1);
            }
        }
        f.write_str(str::from_utf8(&text).unwrap_or_default())
    }
}

impl Serialize for Timestamp {
    /// Text for people and JSON; milliseconds where nobody reads it.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_i64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let millis =
            DateTime::parse_from_rfc3339(&text).map_err(serde::de::Error::custom)?.timestamp_millis();
        if MILLIS.contains(&millis) {
            return Ok(Self(millis));
        }
        Err(serde::de::Error::custom("a time lies in the years 1 to 9999, in UTC"))
    }
}

/// Where the time comes from.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        Timestamp(Utc::now().timestamp_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_can_be_read_again() {
        let millis = [i64::MIN, *MILLIS.start(), -1, 0, 1_780_000_000_000, *MILLIS.end(), i64::MAX];
        for moment in millis.map(Timestamp::from_millis) {
            let text = serde_json::to_string(&moment).expect("it is JSON");
            assert_eq!(text.len(), "'0001-01-01T00:00:00.000Z'".len(), "{text}");
            assert_eq!(serde_json::from_str::<Timestamp>(&text).expect("it is read again"), moment);
        }
    }

    #[test]
    fn text_is_that_of_the_calendar() {
        let day = 86_400_000;
        for moment in (0..40_000).map(|n| Timestamp::from_millis(n * 93 * day + n * 1_234_567 - 50_000 * day))
        {
            let time = DateTime::<Utc>::from_timestamp_millis(moment.millis()).expect("a time");
            assert_eq!(moment.to_string(), time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true));
        }
    }

    #[test]
    fn a_year_without_four_digits_is_refused() {
        for text in ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"] {
            let error = serde_json::from_value::<Timestamp>(text.into()).expect_err(text);
            assert!(error.to_string().contains("years 1 to 9999"), "{text}: {error}");
        }
    }
}
