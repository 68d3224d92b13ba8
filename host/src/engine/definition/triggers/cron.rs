//! `cron`: a trigger that waits for the clock.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use stepwell_schedule::{Cron, Zone};

use crate::domain::Timestamp;
use crate::domain::trigger::CronTrigger;
use crate::engine::definition::parse::{kind, names, text};
use crate::engine::definition::report::{Field, Report, shorten};

const FIELDS: [&str; 6] = ["cron", "id", "timeZone", "misfire", "overlap", "context"];

/// Reads the fields of a trigger with `cron`.
pub(super) fn read(
    members: &Map<String, Value>,
    field: &Field,
    report: &mut Report<'_>,
) -> Option<CronTrigger> {
    names(members, field, &FIELDS, &[], report);
    let time_zone = text(members, "timeZone", field, report).unwrap_or_else(|| "UTC".into());
    let zone = Zone::named(&time_zone).map_err(|sentence| report.add(&field.key("timeZone"), sentence)).ok();
    let misfire = word(members, "misfire", "`fire_once`, `skip` or `fire_all`", field, report);
    let overlap = word(members, "overlap", "`allow`, `skip` or `queue`", field, report);
    let context = match members.get("context") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(context) => {
            if !context.is_object() {
                report.add(&field.key("context"), format!("`context` is an object, not {}", kind(context)));
            }
            context.clone()
        }
    };
    let Some(cron) = text(members, "cron", field, report) else {
        if members.get("cron").is_some_and(Value::is_null) {
            report.add(&field.key("cron"), "`cron` is empty: write an expression such as \"0 2 * * *\"");
        }
        return None;
    };
    if let Err(sentence) = Cron::parse(&cron, zone.unwrap_or(Zone::UTC)) {
        report.add(&field.key("cron"), sentence);
    }
    Some(CronTrigger { cron, time_zone, misfire, overlap, context })
}

/// One of a few words; the first of them if it is absent.
fn word<T: Default + DeserializeOwned>(
    members: &Map<String, Value>,
    name: &str,
    words: &str,
    field: &Field,
    report: &mut Report<'_>,
) -> T {
    let Some(written) = members.get(name).filter(|value| !value.is_null()) else { return T::default() };
    serde_json::from_value(written.clone()).unwrap_or_else(|_| {
        let shown =
            written.as_str().map_or_else(|| kind(written).to_owned(), |text| format!("`{}`", shorten(text)));
        report.add(&field.key(name), format!("`{name}` is {words}, not {shown}"));
        T::default()
    })
}

/// The next run times after a moment, up to so many; or a sentence: it never runs.
pub fn runs(trigger: &CronTrigger, after: Timestamp, count: usize) -> Result<Vec<Timestamp>, String> {
    let cron = Cron::parse(&trigger.cron, Zone::named(&trigger.time_zone)?)?;
    let runs = cron.upcoming(after.millis(), count)?;
    Ok(runs.into_iter().map(Timestamp::from_millis).collect())
}
