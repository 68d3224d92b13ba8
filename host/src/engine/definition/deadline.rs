//! `deadline` of a step or of the whole workflow: how long it may take, and what happens if it takes longer.

use serde_json::{Map, Value};
use stepwell_schedule::{Zone, after};

use super::parse::{kind, names, text};
use super::report::{Field, Report};
use super::template;
use crate::domain::definition::{Deadline, Escalation, Template};

const FIELDS: [&str; 3] = ["after", "error", "event"];
const FIELDS_LATER: [&str; 1] = ["remind"];
/// The error of a deadline that says nothing else.
const EXCEEDED: &str = "deadline_exceeded";
/// A moment to try a duration at: which one does not matter.
const SOME_DAY_MS: i64 = 1_767_225_600_000;

/// Reads the `deadline` of a step or a document.
pub(super) fn read(object: &Map<String, Value>, field: &Field, report: &mut Report<'_>) -> Option<Deadline> {
    let field = field.key("deadline");
    match object.get("deadline")? {
        Value::Null => None,
        written @ (Value::String(_) | Value::Number(_)) => Some(Deadline {
            after: duration(written, &field, report)?,
            escalation: Escalation::Error(EXCEEDED.into()),
        }),
        Value::Object(members) => {
            names(members, &field, &FIELDS, &FIELDS_LATER, report);
            let error = text(members, "error", &field, report);
            let event = text(members, "event", &field, report);
            let escalation = match (error, event) {
                (Some(_), Some(_)) => {
                    report.add(
                        &field.key("event"),
                        "`event` cannot stand beside `error`: a deadline has one of them",
                    );
                    return None;
                }
                (_, Some(name)) => Escalation::Event(name),
                (error, None) => Escalation::Error(error.unwrap_or_else(|| EXCEEDED.into())),
            };
            let (Escalation::Error(word) | Escalation::Event(word)) = &escalation;
            if word.is_empty() {
                report.add(&field, "an error's code and an event's name are not empty");
            }
            let Some(written) = members.get("after") else {
                report.add(&field, "a deadline has `after`: how long, such as 4h");
                return None;
            };
            Some(Deadline { after: duration(written, &field.key("after"), report)?, escalation })
        }
        other => {
            let message = format!(
                "`deadline` is a duration such as 4h, or an object with `after`, not {}",
                kind(other)
            );
            report.add(&field, message);
            None
        }
    }
}

fn duration(written: &Value, field: &Field, report: &mut Report<'_>) -> Option<Template> {
    let template = template::parse(written)
        .map_err(|flawed| flawed.into_iter().for_each(|(way, why)| report.add(&field.follow(&way), why)))
        .ok()?;
    if let Template::Literal(value) = &template
        && let Err(sentence) = due_after(value, SOME_DAY_MS)
    {
        report.add(field, sentence);
        return None;
    }
    Some(template)
}

/// The moment that lies a duration after another one, or a sentence that says what is wrong with the duration.
pub fn due_after(duration: &Value, now_ms: i64) -> Result<i64, String> {
    match duration {
        Value::String(text) => after(text, now_ms, &Zone::UTC),
        Value::Number(seconds) => after(&seconds.to_string(), now_ms, &Zone::UTC),
        other => Err(format!("is a duration such as 4h, not {}", kind(other))),
    }
}
