//! Durations as people write them: `600`, `"600s"`, `"1h30m"`, `"500ms"`, `"PT10M"`.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// The longest duration that is taken: a hundred years.
pub const DURATION_MS_MAX: u64 = 100 * 366 * 86_400_000;

/// The pattern of [`parse_ms`] for a JSON Schema; a number of seconds is allowed beside it.
pub const DURATION_PATTERN: &str = r"^\s*(?:\d+(?:\.\d+)?|(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+|P(?=[\dT])(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)\s*$";

/// A duration in a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millis(pub u64);

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MillisVisitor)
    }
}

/// Milliseconds from text, or a sentence that says what is wrong.
pub fn parse_ms(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let parsed = match trimmed.strip_prefix('P') {
        Some(rest) => iso_8601(rest),
        None if trimmed.ends_with(|last: char| last.is_ascii_digit()) => {
            number(trimmed).map(|seconds| seconds * 1_000.0)
        }
        None => pairs(
            trimmed,
            &[("ms", 1.0), ("s", 1e3), ("m", 6e4), ("h", 3.6e6), ("d", 8.64e7), ("w", 6.048e8)],
        ),
    };
    let millis = parsed.ok_or_else(|| {
        format!(
            "\"{trimmed}\" is not a duration: write seconds, such as 600, or \"600s\", \"1h30m\", \"PT10M\""
        )
    })?;
    bounded(millis)
}

fn bounded(millis: f64) -> Result<u64, String> {
    if (0.0..=DURATION_MS_MAX as f64).contains(&millis) {
        Ok(millis.round() as u64)
    } else {
        Err(format!("a duration is at least 0 and at most {} days", DURATION_MS_MAX / 86_400_000))
    }
}

fn iso_8601(rest: &str) -> Option<f64> {
    let (date, time) = match rest.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (rest, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let date = in_order(date, &[("W", 6.048e8), ("D", 8.64e7)])?;
    let time = in_order(time, &[("H", 3.6e6), ("M", 6e4), ("S", 1e3)])?;
    Some(date + time)
}

/// Sums `number unit` pairs, each unit at most once and in this order; only seconds have a fraction.
fn in_order(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (mut rest, mut sum) = (text, 0.0);
    for (unit, factor) in units {
        let Some((value, after)) = rest.split_once(unit) else { continue };
        let value = number(value).filter(|_| *unit == "S" || !value.contains('.'))?;
        sum += value * factor;
        rest = after;
    }
    rest.is_empty().then_some(sum)
}

/// Sums `number unit` pairs; a unit may be the beginning of another, so the longest that fits is taken.
fn pairs(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let value = number(rest.get(..end)?)?;
        rest = rest.get(end..)?;
        let (unit, factor) =
            units.iter().filter(|(unit, _)| rest.starts_with(unit)).max_by_key(|(unit, _)| unit.len())?;
        sum += value * factor;
        rest = rest.get(unit.len()..)?;
    }
    (!text.is_empty()).then_some(sum)
}

fn number(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    if plain { text.parse().ok() } else { None }
}

struct MillisVisitor;

impl Visitor<'_> for MillisVisitor {
    type Value = Millis;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration: seconds as a number, or text such as \"600s\", \"1h30m\", \"PT10M\"")
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Millis, E> {
        self.visit_f64(seconds as f64)
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Millis, E> {
        self.visit_f64(seconds as f64)
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<Millis, E> {
        bounded(seconds * 1_000.0).map(Millis).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Millis, E> {
        parse_ms(text).map(Millis).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_is_read() {
        for (text, millis) in [
            ("600", 600_000),
            ("0.5", 500),
            ("600s", 600_000),
            (" 10m ", 600_000),
            ("1h30m", 5_400_000),
            ("500ms", 500),
            ("1m500ms", 60_500),
            ("1.5s", 1_500),
            ("2d", 172_800_000),
            ("1w", 604_800_000),
            ("PT10M", 600_000),
            ("PT1H30M", 5_400_000),
            ("P1DT12H", 129_600_000),
            ("PT0.5S", 500),
            ("P2W", 1_209_600_000),
            ("0s", 0),
        ] {
            assert_eq!(parse_ms(text), Ok(millis), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_sentence() {
        for text in [
            "", " ", "s", "10x", "-5", "-5s", "1h30", "P", "PT", "PTM", "1..5s", "1e9", "NaN", "ten", "5 m",
            "ř", "1.s", "P0.D", "P0.5D", "PT1.5H", "PT1S1H", "PT1H1H", "P1D1W", "P1DT", "P1H",
        ] {
            let sentence = parse_ms(text).expect_err(text);
            assert!(sentence.contains("duration"), "{text}: {sentence}");
        }
    }

    #[test]
    fn a_duration_has_bounds() {
        assert!(parse_ms("99999999999999999999999999999999d").is_err());
        assert!(parse_ms("36601d").is_err());
        assert_eq!(parse_ms("36600d"), Ok(DURATION_MS_MAX));
    }

    #[test]
    fn numbers_are_seconds() {
        let read = |text: &str| {
            serde_json::from_str::<Millis>(text).map(|millis| millis.0).map_err(|e| e.to_string())
        };
        assert_eq!(read("600"), Ok(600_000));
        assert_eq!(read("0.25"), Ok(250));
        assert_eq!(read("\"2m\""), Ok(120_000));
        assert!(read("-1").is_err());
        assert!(read("true").is_err());
    }
}
