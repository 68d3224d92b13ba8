//! `priority` of a step or of the whole workflow: what its external tasks have unless they say otherwise.

use serde_json::{Map, Value};

use super::report::{Field, Report};

/// The step type that has priorities.
const PRIORITIZED: &str = "EXTERNAL_TASK";
/// The member of its configuration.
const PRIORITY: &str = "priority";

/// What a document says about the priority of its tasks.
pub(super) enum Priorities {
    /// Nothing.
    Unset,
    /// A number, or a template that becomes one.
    Given(Value),
    /// All tasks have the same, whatever their steps say.
    Off,
}

/// Reads a document's `priority`.
pub(super) fn of_document(
    document: &Map<String, Value>,
    root: &Field,
    report: &mut Report<'_>,
) -> Priorities {
    match document.get(PRIORITY) {
        None | Some(Value::Null) => Priorities::Unset,
        Some(Value::Bool(false)) => Priorities::Off,
        Some(Value::String(word)) if word == "off" => Priorities::Off,
        Some(value) if is_priority(value) => Priorities::Given(value.clone()),
        Some(_) => {
            let message =
                "`priority` is a whole number, a template, or `off` for the same priority everywhere";
            report.add(&root.key(PRIORITY), message);
            Priorities::Unset
        }
    }
}

/// Puts the priority that counts into a step's configuration.
pub(super) fn settle(
    step: &Map<String, Value>,
    step_type: &str,
    config: &mut Map<String, Value>,
    of_document: &Priorities,
    field: &Field,
    report: &mut Report<'_>,
) {
    let own = step.get(PRIORITY).filter(|value| !value.is_null());
    if let Some(value) = own {
        if step_type != PRIORITIZED {
            report.add(&field.key(PRIORITY), format!("only steps of type `{PRIORITIZED}` have a `priority`"));
        } else if !is_priority(value) {
            report.add(&field.key(PRIORITY), "`priority` is a whole number or a template");
        }
    }
    if step_type != PRIORITIZED {
        return;
    }
    match of_document {
        Priorities::Off => {
            config.remove(PRIORITY);
        }
        Priorities::Given(value) if own.is_none() => {
            config.entry(PRIORITY).or_insert_with(|| value.clone());
        }
        _ => {
            if let Some(value) = own {
                config.entry(PRIORITY).or_insert_with(|| value.clone());
            }
        }
    }
}

fn is_priority(value: &Value) -> bool {
    let template = |text: &str| text.contains("${") || text.contains("@{");
    value.is_i64() || value.as_str().is_some_and(template)
}
