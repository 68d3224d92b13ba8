//! Runs of cron expressions, as tables.

use super::*;

fn runs(text: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    let zone = Zone::named(zone).expect("a zone");
    let after = after.parse::<jiff::Timestamp>().expect("a moment").as_millisecond();
    let cron = Cron::parse(text, zone.clone()).expect("an expression");
    cron.upcoming(after, count).expect("it runs").into_iter().map(|run| zone.show(run)).collect()
}

#[test]
fn every_way_of_writing_is_read() {
    for (text, next) in [
        ("0 2 * * *", "2026-01-16T02:00:00+00:00"),
        ("30 0 2 * * *", "2026-01-16T02:00:30+00:00"),
        ("*/15 * * * *", "2026-01-15T12:15:00+00:00"),
        ("*/10 * * * * *", "2026-01-15T12:00:10+00:00"),
        ("0 9-17 * * MON-FRI", "2026-01-15T13:00:00+00:00"),
        ("0 0 1 JAN *", "2027-01-01T00:00:00+00:00"),
        ("0 12 L * *", "2026-01-31T12:00:00+00:00"),
        ("0 12 * * FRI#2", "2026-02-13T12:00:00+00:00"),
        ("0 0 29 2 *", "2028-02-29T00:00:00+00:00"),
        ("0 0 * * 7", "2026-01-18T00:00:00+00:00"),
        ("@daily", "2026-01-16T00:00:00+00:00"),
        ("@MIDNIGHT", "2026-01-16T00:00:00+00:00"),
        ("@hourly", "2026-01-15T13:00:00+00:00"),
        ("@weekly", "2026-01-18T00:00:00+00:00"),
        ("@monthly", "2026-02-01T00:00:00+00:00"),
        ("@yearly", "2027-01-01T00:00:00+00:00"),
    ] {
        assert_eq!(runs(text, "UTC", "2026-01-15T12:00:00Z", 1), [next], "{text}");
    }
}

#[test]
fn a_run_is_after_and_never_at_the_moment() {
    assert_eq!(runs("0 12 * * *", "UTC", "2026-01-15T12:00:00Z", 1), ["2026-01-16T12:00:00+00:00"]);
    assert_eq!(runs("0 12 * * *", "UTC", "2026-01-15T11:59:59.999Z", 1), ["2026-01-15T12:00:00+00:00"]);
    assert_eq!(runs("0 12 * * *", "UTC", "2026-01-15T12:00:00.001Z", 1), ["2026-01-16T12:00:00+00:00"]);
}

/// In Prague clocks go from 2:00 to 3:00 on March 29, 2026.
#[test]
fn the_hour_that_does_not_exist() {
    let evening = "2026-03-28T20:00:00+01:00";
    assert_eq!(
        runs("30 2 * * *", "Europe/Prague", evening, 2),
        ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"],
        "once, as soon as there is a time"
    );
    assert_eq!(
        runs("0,30 1-3 * * *", "Europe/Prague", evening, 4),
        [
            "2026-03-29T01:00:00+01:00",
            "2026-03-29T01:30:00+01:00",
            "2026-03-29T03:00:00+02:00",
            "2026-03-29T03:30:00+02:00"
        ],
        "what was skipped and what is due then are one run"
    );
    assert_eq!(
        runs("*/30 * * * *", "Europe/Prague", "2026-03-29T01:00:00+01:00", 3),
        ["2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"]
    );
    assert_eq!(
        runs("15 2 * * *", "America/New_York", "2026-03-08T00:00:00-05:00", 2),
        ["2026-03-08T03:00:00-04:00", "2026-03-09T02:15:00-04:00"]
    );
}

/// In Prague clocks go from 3:00 to 2:00 on October 25, 2026.
#[test]
fn the_hour_that_comes_twice() {
    let evening = "2026-10-24T20:00:00+02:00";
    assert_eq!(
        runs("30 2 * * *", "Europe/Prague", evening, 2),
        ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"],
        "once, the first time"
    );
    assert_eq!(
        runs("0 1,2,3 * * *", "Europe/Prague", evening, 4),
        [
            "2026-10-25T01:00:00+02:00",
            "2026-10-25T02:00:00+02:00",
            "2026-10-25T03:00:00+01:00",
            "2026-10-26T01:00:00+01:00"
        ]
    );
    assert_eq!(
        runs("30 2 * * *", "Europe/Prague", "2026-10-25T02:10:00+01:00", 1),
        ["2026-10-26T02:30:00+01:00"],
        "the second time is not a run"
    );
    assert_eq!(
        runs("*/30 * * * *", "Europe/Prague", "2026-10-25T02:00:00+02:00", 4),
        [
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:00:00+01:00",
            "2026-10-25T02:30:00+01:00",
            "2026-10-25T03:00:00+01:00"
        ],
        "what repeats goes on"
    );
}

#[test]
fn a_year_of_days_has_as_many_runs() {
    for zone in ["Europe/Prague", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu"]
    {
        for text in ["0 0 * * *", "30 1 * * *", "30 2 * * *", "0 3 * * *"] {
            let all = runs(text, zone, "2026-01-01T12:00:00Z", 365);
            let days: std::collections::BTreeSet<&str> = all.iter().map(|run| &run[..10]).collect();
            assert_eq!(days.len(), 365, "{text} {zone}");
        }
    }
}

#[test]
fn what_never_runs_is_said() {
    for text in ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 31 FEB *", "* * * 30 2 *"] {
        let sentence = Cron::parse(text, Zone::UTC).expect("it reads").next(0).expect_err(text);
        assert!(sentence.contains("never runs"), "{sentence}");
    }
}

#[test]
fn nonsense_is_refused_with_a_sentence() {
    let long = "* ".repeat(5_000);
    for text in [
        "",
        "soon",
        "* * * *",
        "* * * * * * *",
        "60 * * * *",
        "0 24 * * *",
        "0 0 32 * *",
        "0 0 1 13 *",
        "0 0 * * 8",
        "0 0 * * XYZ",
        "@noon",
        "@reboot",
        "a b c d e",
        "0 0 * * ř",
        "-1 * * * *",
        "*/0 * * * *",
        "5-1 * * * *",
        &long,
    ] {
        let sentence = Cron::parse(text, Zone::UTC).expect_err(text);
        assert!(sentence.contains("no cron expression") && sentence.len() < 500, "{text}: {sentence}");
    }
}
