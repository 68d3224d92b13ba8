//! Moments: ISO 8601 with an offset or a zone, or a local time where the zone is known.

use jiff::civil::DateTime;
use jiff::{Timestamp, Zoned};

use super::{TEXT_BYTES_MAX, Zone, near_enough, timestamp};

/// A moment in milliseconds, or a sentence that says what is wrong with it. One without an offset is a local time of
/// `zone`, if there is one: in an hour that does not exist it is an hour later, in one that comes twice the first.
pub fn moment(text: &str, now_ms: i64, zone: Option<&Zone>) -> Result<i64, String> {
    let trimmed = text.trim();
    let shown: String = trimmed.chars().take(TEXT_BYTES_MAX).collect();
    let unclear = || {
        format!("\"{shown}\" is not a moment: write ISO 8601 with a zone, such as \"2026-11-09T02:00:00Z\"")
    };
    if trimmed.len() > TEXT_BYTES_MAX {
        return Err(unclear());
    }
    let moment = if let Ok(moment) = trimmed.parse::<Timestamp>() {
        moment
    } else if let Ok(zoned) = trimmed.parse::<Zoned>() {
        zoned.timestamp()
    } else {
        let local = trimmed.parse::<DateTime>().map_err(|_| unclear())?;
        let Some(zone) = zone else {
            return Err(format!(
                "\"{shown}\" has no zone: add Z or an offset such as +01:00, or say the zone in timeZone"
            ));
        };
        local.to_zoned(zone.0.clone()).map_err(|_| unclear())?.timestamp()
    };
    near_enough(moment, timestamp(now_ms)?).map_err(|sentence| format!("\"{shown}\" {sentence}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_767_225_600_000;

    #[test]
    fn moments_with_a_zone_are_read() {
        for text in [
            "2026-11-09T02:00:00Z",
            "2026-11-09T03:00:00+01:00",
            "2026-11-09T03:00:00.000+01:00",
            "2026-11-09T03:00+01:00[Europe/Prague]",
            "2026-11-09T03:00[Europe/Prague]",
            " 2026-11-09t02:00:00z ",
        ] {
            assert_eq!(moment(text, NOW, None), Ok(1_794_189_600_000), "{text}");
        }
    }

    #[test]
    fn a_local_time_is_one_of_the_zone() {
        let prague = Zone::named("Europe/Prague").expect("it is there");
        let read = |text: &str| moment(text, NOW, Some(&prague)).map(|at| prague.show(at));
        assert_eq!(read("2026-11-09T03:00:00").as_deref(), Ok("2026-11-09T03:00:00+01:00"));
        assert_eq!(read("2026-03-29T02:30:00").as_deref(), Ok("2026-03-29T03:30:00+02:00"));
        assert_eq!(read("2026-10-25T02:30:00").as_deref(), Ok("2026-10-25T02:30:00+02:00"));
        assert!(moment("2026-11-09T03:00:00", NOW, None).is_err_and(|sentence| sentence.contains("no zone")));
    }

    #[test]
    fn the_past_is_a_moment_and_a_century_ahead_is_not() {
        assert!(moment("1999-01-01T00:00:00Z", NOW, None).is_ok());
        let far = moment("2130-01-01T00:00:00Z", NOW, None);
        assert!(far.is_err_and(|sentence| sentence.contains("100 years")));
        let long = "2".repeat(9_999);
        for text in ["", "tomorrow", "2026-13-01T00:00:00Z", "2026-11-09T02:00:00+99:00", "1794189600", &long]
        {
            let sentence = moment(text, NOW, None).expect_err(text);
            assert!(sentence.contains("not a moment") && sentence.len() < 400, "{sentence}");
        }
    }
}
