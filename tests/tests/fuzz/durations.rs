//! Durations: every way of writing one is read as what it says, and the schema and the parser agree.

use proptest::prelude::{Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;
use serde_json::{Value, json};
use stepwell::domain::Digest;
use stepwell::engine::port::Plugins as _;
use stepwell_sdk::duration::{DURATION_MS_MAX, Millis, parse_ms};

use crate::cases::{USUAL, check, fail};
use crate::{plugins, wild};

/// The ways of writing so many milliseconds.
fn ways(millis: u64) -> Vec<String> {
    let (seconds, rest) = (millis / 1_000, millis % 1_000);
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    vec![
        format!("{millis}ms"),
        format!("{seconds}.{rest:03}"),
        format!("{seconds}.{rest:03}s"),
        format!("  {seconds}s{rest}ms "),
        format!("{minutes}m{}s{rest}ms", seconds % 60),
        format!("{days}d{}h{}m{}.{rest:03}s", hours % 24, minutes % 60, seconds % 60),
        format!("{}w{}d{}s{rest}ms", days / 7, days % 7, seconds % 86_400),
        format!("PT{seconds}.{rest:03}S"),
        format!("P{days}DT{}H{}M{}.{rest:03}S", hours % 24, minutes % 60, seconds % 60),
    ]
}

#[test]
fn every_way_of_writing_says_the_same() {
    let millis = prop_oneof![0..10_000_u64, 0..=DURATION_MS_MAX, any::<u32>().prop_map(u64::from)];
    check("every_way_of_writing_says_the_same", USUAL, millis, |millis| {
        for text in ways(millis) {
            if parse_ms(&text) != Ok(millis) {
                return fail(format!("{text:?} is {:?}", parse_ms(&text)));
            }
        }
        let number: Millis = serde_json::from_value(json!(millis as f64 / 1_000.0)).unwrap();
        if number.0 != millis {
            return fail(format!("as a number it is {number:?}"));
        }
        Ok(())
    });
}

#[test]
fn more_is_longer() {
    let unit = select(&["ms", "s", "m", "h", "d", "w", ""][..]);
    check("more_is_longer", USUAL, (any::<u32>(), any::<u32>(), unit), |(one, other, unit)| {
        let read = |number: u32| parse_ms(&format!("{number}{unit}"));
        match (read(one.min(other)), read(one.max(other))) {
            (Ok(less), Ok(more)) if less <= more => Ok(()),
            (Ok(_) | Err(_), Err(reason)) if reason.contains("at most") => Ok(()),
            other => fail(format!("{other:?}")),
        }
    });
}

/// Characters of durations, in any order.
fn likely() -> impl Strategy<Value = String> {
    "[ P]?[0-9PTWDHMSmshdw. -]{0,12}".prop_map(|text| text)
}

#[test]
fn the_schema_and_the_parser_agree() {
    let plugins = plugins::get();
    let digest: Digest = plugins.host.step_type("EXTERNAL_TASK").unwrap().digest;
    let fits = |value: &Value| {
        plugins.host.check_config(&digest, &json!({ "taskType": "t", "timeout": value })).is_empty()
    };
    check("the_schema_and_the_parser_agree", USUAL, prop_oneof![3 => likely(), 1 => wild::text()], |text| {
        match (parse_ms(&text), fits(&json!(text))) {
            (Ok(millis), true) if millis <= DURATION_MS_MAX => Ok(()),
            (Err(reason), true) if reason.contains("at most") => Ok(()),
            (Err(reason), false) if reason.contains("duration") => Ok(()),
            (parsed, fits) => fail(format!("the schema says {fits}, the parser {parsed:?}")),
        }
    });
    check("the_schema_and_the_parser_agree", USUAL, wild::json(), |value| {
        let parsed = serde_json::from_value::<Millis>(value.clone());
        match (&parsed, fits(&value)) {
            (Ok(_), true) => Ok(()),
            (Err(reason), true) if reason.to_string().contains("at most") => Ok(()),
            (Err(_), false) => Ok(()),
            (_, fits) => fail(format!("the schema says {fits}, the parser {parsed:?}")),
        }
    });
}
