//! `triggers`: a list of what starts the workflow by itself. Each item has exactly one kind, and a file here.

mod cron;
mod event;

use serde_json::{Map, Value};

pub use self::cron::runs;
use super::parse::{kind, text};
use super::report::{Field, Report, shorten};
use super::{Document, NAME_CHARS_MAX};
use crate::domain::Timestamp;
use crate::domain::definition::Workflow;
use crate::domain::trigger::{Trigger, TriggerKind};
use crate::engine::Error;

/// Triggers of one workflow.
const TRIGGERS_MAX: usize = 50;
/// What a trigger can wait for. Another kind: its word, an arm in [`read`], a file that reads its fields.
const KINDS: [&str; 2] = ["cron", "event"];
/// Kinds that are known of, and not served.
const KINDS_LATER: [&str; 1] = ["webhook"];

/// Reads a document's `triggers`.
pub(super) fn of_document(
    document: &Map<String, Value>,
    root: &Field,
    report: &mut Report<'_>,
) -> Vec<Trigger> {
    let field = root.key("triggers");
    let items = match document.get("triggers") {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(items)) if items.len() > TRIGGERS_MAX => {
            report
                .add(&field, format!("there are {} triggers; at most {TRIGGERS_MAX} are taken", items.len()));
            return Vec::new();
        }
        Some(Value::Array(items)) => items,
        Some(other) => {
            report.add(&field, format!("`triggers` is a list, not {}", kind(other)));
            return Vec::new();
        }
    };
    let mut triggers: Vec<Trigger> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let field = field.index(at);
        let Some(trigger) = read(item, at, &field, report) else { continue };
        if triggers.iter().any(|other| other.id == trigger.id) {
            let message = format!("another trigger has the id `{}`", shorten(&trigger.id));
            report.add(&field.key("id"), message);
        }
        triggers.push(trigger);
    }
    triggers
}

fn read(item: &Value, at: usize, field: &Field, report: &mut Report<'_>) -> Option<Trigger> {
    let Some(members) = item.as_object() else {
        report
            .add(field, format!("a trigger is an object such as `cron: \"0 2 * * *\"`, not {}", kind(item)));
        return None;
    };
    let mut kinds = KINDS.iter().chain(&KINDS_LATER).filter(|kind| members.contains_key(**kind));
    let Some(word) = kinds.next() else {
        report.add(field, format!("a trigger says what it waits for: `{}`", KINDS.join("` or `")));
        return None;
    };
    if let Some(other) = kinds.next() {
        report.add(
            &field.key(other),
            format!("`{other}` cannot stand beside `{word}`: a trigger has one of them"),
        );
        return None;
    }
    let id = id(members, word, at, field, report);
    let kind = match *word {
        "cron" => TriggerKind::Cron(cron::read(members, field, report)?),
        "event" => TriggerKind::Event(event::read(members, field, report)?),
        later => {
            report.add(&field.key(later), format!("`{later}` is not supported yet: remove it"));
            return None;
        }
    };
    Some(Trigger { id, kind })
}

/// What a trigger is called: its `id`, else its kind and place.
fn id(members: &Map<String, Value>, word: &str, at: usize, field: &Field, report: &mut Report<'_>) -> String {
    let Some(id) = text(members, "id", field, report) else { return format!("{word}-{}", at + 1) };
    if id.is_empty()
        || id.len() > NAME_CHARS_MAX
        || !id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    {
        let message = format!(
            "`{}` is not a trigger's id: use 1 to {NAME_CHARS_MAX} letters, digits, `-` and `_`",
            shorten(&id)
        );
        report.add(&field.key("id"), message);
    }
    id
}

/// What only the time of the deployment tells: a schedule that never runs.
pub fn check_triggers(document: &Document, workflow: &Workflow, now: Timestamp) -> Result<(), Error> {
    let mut report = Report::new(Some(document.spots()));
    for (at, trigger) in workflow.triggers.iter().enumerate() {
        let Some(cron) = trigger.cron() else { continue };
        if let Err(sentence) = runs(cron, now, 1) {
            report.add(&Field::root().key("triggers").index(at).key("cron"), sentence);
        }
    }
    report.finish(())
}
