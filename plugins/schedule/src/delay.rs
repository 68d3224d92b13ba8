//! Delays: `90s`, `1h30m`, `2d`, a number of seconds, and ISO 8601 with calendar parts.

use jiff::Span;

use super::{TEXT_BYTES_MAX, YEARS_MAX, Zone, near_enough, timestamp};

/// The moment that lies a delay ahead, or a sentence that says what is wrong with the delay.
///
/// Days and longer are those of the zone's calendar: a day later is the same time on the clock on the wall, and a month
/// after January 31 is the last day of February. Hours and shorter are exact.
pub fn after(text: &str, now_ms: i64, zone: &Zone) -> Result<i64, String> {
    let span = parse(text)?;
    let now = timestamp(now_ms)?;
    let too_long = || format!("\"{}\" lasts {YEARS_MAX} years or longer", text.trim());
    let due = now.to_zoned(zone.0.clone()).checked_add(span).map_err(|_| too_long())?.timestamp();
    if due <= now {
        return Err(format!("\"{}\" is no wait: a delay is longer than 0", text.trim()));
    }
    near_enough(due, now).map_err(|_| too_long())
}

fn parse(text: &str) -> Result<Span, String> {
    let trimmed = text.trim();
    let unclear = || {
        let shown: String = trimmed.chars().take(TEXT_BYTES_MAX).collect();
        format!(
            "\"{shown}\" is not a delay: write \"90s\", \"30m\", \"1h30m\", \"2d\", a number of seconds, or ISO 8601 \
             such as \"PT1H30M\" or \"P1M\""
        )
    };
    if trimmed.len() > TEXT_BYTES_MAX {
        return Err(unclear());
    }
    // A bare number is one of seconds, as everywhere.
    let digits = trimmed.strip_prefix('-').unwrap_or(trimmed);
    let bare = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let span = if bare { format!("{trimmed}s").parse() } else { trimmed.parse::<Span>() };
    match span {
        // jiff's word for yesterday; the sentence about it is ours.
        Ok(span) if span.is_negative() => {
            Err(format!("\"{trimmed}\" lies in the past: a delay is longer than 0"))
        }
        Ok(span) => Ok(span),
        Err(_) => Err(unclear()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn at(moment: &str) -> i64 {
        moment.parse::<jiff::Timestamp>().expect("a moment").as_millisecond()
    }

    #[test]
    fn every_way_of_writing_is_read() {
        let now = at("2026-01-15T12:00:00Z");
        for (text, millis) in [
            ("1h", HOUR),
            ("30m", HOUR / 2),
            ("2d", 48 * HOUR),
            ("90s", 90_000),
            ("1h30m", HOUR * 3 / 2),
            (" 1w ", 7 * 24 * HOUR),
            ("500ms", 500),
            ("1.5s", 1_500),
            ("600", 600_000),
            ("0.25", 250),
            ("PT1H30M", HOUR * 3 / 2),
            ("P2D", 48 * HOUR),
            ("P1DT12H", 36 * HOUR),
            ("PT0.5S", 500),
            ("P2W", 14 * 24 * HOUR),
        ] {
            assert_eq!(after(text, now, &Zone::UTC), Ok(now + millis), "{text}");
        }
    }

    #[test]
    fn calendar_parts_follow_the_calendar() {
        for (now, text, due) in [
            ("2026-01-31T10:00:00Z", "P1M", "2026-02-28T10:00:00Z"),
            ("2028-01-31T10:00:00Z", "P1M", "2028-02-29T10:00:00Z"),
            ("2028-02-29T10:00:00Z", "P1Y", "2029-02-28T10:00:00Z"),
            ("2026-01-31T10:00:00Z", "P1M1D", "2026-03-01T10:00:00Z"),
            ("2026-12-15T10:00:00Z", "P1Y2M10DT2H30M", "2028-02-25T12:30:00Z"),
        ] {
            assert_eq!(after(text, at(now), &Zone::UTC), Ok(at(due)), "{now} {text}");
        }
    }

    #[test]
    fn a_day_is_one_of_the_zone() {
        let prague = Zone::named("Europe/Prague").expect("it is there");
        // Clocks go from 2:00 to 3:00 on March 29, and from 3:00 to 2:00 on October 25.
        for (now, text, due) in [
            ("2026-03-28T11:00:00+01:00", "P1D", "2026-03-29T11:00:00+02:00"),
            ("2026-03-28T11:00:00+01:00", "PT24H", "2026-03-29T12:00:00+02:00"),
            ("2026-10-24T11:00:00+02:00", "1d", "2026-10-25T11:00:00+01:00"),
            ("2026-10-24T11:00:00+02:00", "24h", "2026-10-25T10:00:00+01:00"),
            // The hour that does not exist, and the one that comes twice.
            ("2026-03-28T02:30:00+01:00", "P1D", "2026-03-29T03:30:00+02:00"),
            ("2026-10-24T02:30:00+02:00", "P1D", "2026-10-25T02:30:00+02:00"),
        ] {
            assert_eq!(after(text, at(now), &prague), Ok(at(due)), "{now} {text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_sentence() {
        let now = at("2026-01-15T12:00:00Z");
        let long = "9".repeat(5_000);
        for (text, about) in [
            ("", "not a delay"),
            ("soon", "not a delay"),
            ("5 parsecs", "not a delay"),
            ("1h30", "not a delay"),
            ("P", "not a delay"),
            ("1..5", "not a delay"),
            ("ř", "not a delay"),
            (long.as_str(), "not a delay"),
            ("0s", "longer than 0"),
            ("PT0S", "longer than 0"),
            ("0", "longer than 0"),
            ("-5", "past"),
            ("-5m", "past"),
            ("-PT5M", "past"),
            ("5m ago", "past"),
            ("101y", "100 years"),
            ("P101Y", "100 years"),
            ("40000d", "100 years"),
            ("P19000Y", "100 years"),
        ] {
            let sentence = after(text, now, &Zone::UTC).expect_err(text);
            assert!(sentence.contains(about), "{text}: {sentence}");
            assert!(sentence.len() < 500, "{text}: {sentence}");
        }
    }
}
