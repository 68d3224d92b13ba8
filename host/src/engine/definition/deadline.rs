//! `deadline` of a step or of the whole workflow: how long it may take, and what happens if it takes longer.

use serde_json::{Map, Value};
use stepwell_schedule::{Zone, after};

use super::parse::{kind, names, text};
use super::report::{Field, Report};
use super::template;
use super::trial::known;
use crate::domain::definition::{Deadline, Escalation, Root, Template};

const FIELDS: [&str; 4] = ["after", "error", "event", "remind"];
/// What may be said of a reminder.
const REMIND_FIELDS: [&str; 6] = ["channel", "recipients", "subject", "message", "sender", "retry"];
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
            names(members, &field, &FIELDS, &[], report);
            let error = text(members, "error", &field, report);
            let event = text(members, "event", &field, report);
            let remind = members.get("remind").filter(|remind| !remind.is_null());
            let beside = |one: &str, other: &str| {
                format!("`{one}` cannot stand beside `{other}`: a deadline has one of them")
            };
            let escalation = match (error, event, remind) {
                (Some(_), Some(_), _) => {
                    report.add(&field.key("event"), beside("event", "error"));
                    return None;
                }
                (error, event, Some(_)) if error.is_some() || event.is_some() => {
                    let other = if error.is_some() { "error" } else { "event" };
                    report.add(&field.key("remind"), beside("remind", other));
                    return None;
                }
                (_, _, Some(remind)) => Escalation::Remind(note(remind, &field.key("remind"), report)?),
                (_, Some(name), _) => Escalation::Event(name),
                (error, None, None) => Escalation::Error(error.unwrap_or_else(|| EXCEEDED.into())),
            };
            if matches!(&escalation, Escalation::Error(word) | Escalation::Event(word) if word.is_empty()) {
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

/// A note to people, checked as far as it is known.
fn note(written: &Value, field: &Field, report: &mut Report<'_>) -> Option<Template> {
    let Some(members) = written.as_object() else {
        report
            .add(field, format!("`remind` is an object with `channel` and `message`, not {}", kind(written)));
        return None;
    };
    names(members, field, &REMIND_FIELDS, &[], report);
    let template = template::parse(written)
        .map_err(|flawed| flawed.into_iter().for_each(|(way, why)| report.add(&field.follow(&way), why)))
        .ok()?;
    let mut odd = Vec::new();
    template::visit(&template, &mut Vec::new(), &mut |way, path| {
        if matches!(path.root, Root::Secrets | Root::StepOutput(_) | Root::StepError(_)) {
            odd.push((way.to_vec(), path.source.clone()));
        }
    });
    for (way, source) in &odd {
        let message =
            format!("`{source}` is not known here: a reminder of a deadline sees context and variables");
        report.add(&field.follow(way), message);
    }
    if let Err(sentence) = stepwell_notice::read(&known(&template), SOME_DAY_MS) {
        let (part, why) = sentence.split_once(": ").unwrap_or(("", &sentence));
        let field = if members.contains_key(part) { field.key(part) } else { field.clone() };
        report.add(&field, if members.contains_key(part) { why.to_owned() } else { sentence.clone() });
    }
    Some(template)
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
