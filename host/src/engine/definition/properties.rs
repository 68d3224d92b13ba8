//! `extensionProperties` of a step: names and texts for its workers, which mean nothing to the host.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::report::{Field, Report};

/// The member of a step.
const PROPERTIES: &str = "extensionProperties";
/// Properties of one step.
const PROPERTIES_MAX: usize = 100;

/// Reads them; numbers and flags become text, as Camunda has it.
pub(super) fn of_step(
    step: &Map<String, Value>,
    field: &Field,
    report: &mut Report<'_>,
) -> BTreeMap<String, String> {
    let field = field.key(PROPERTIES);
    let given = match step.get(PROPERTIES) {
        None | Some(Value::Null) => return BTreeMap::new(),
        Some(Value::Object(given)) => given,
        Some(_) => {
            report.add(&field, "`extensionProperties` is an object from name to text");
            return BTreeMap::new();
        }
    };
    if given.len() > PROPERTIES_MAX {
        report.add(&field, format!("there are more than {PROPERTIES_MAX} properties"));
    }
    let mut properties = BTreeMap::new();
    for (name, value) in given {
        match value {
            Value::String(text) => properties.insert(name.clone(), text.clone()),
            Value::Number(_) | Value::Bool(_) => properties.insert(name.clone(), value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                report.add(&field.key(name), "a property is text, a number, or true or false");
                None
            }
        };
    }
    properties
}
