//! `onError` of a step: from an error's code to the step that it leads to.

use serde_json::{Map, Value};

use super::parse::kind;
use super::report::{Field, Report};
use crate::domain::definition::{ErrorTarget, OnError};

/// What an error leads to if its path ends there.
pub(super) const END: &str = "end";

/// Reads the `onError` of a step.
pub(super) fn read(step: &Map<String, Value>, field: &Field, report: &mut Report<'_>) -> OnError {
    let field = field.key("onError");
    let target = |id: &str| if id == END { ErrorTarget::End } else { ErrorTarget::Step(id.to_owned()) };
    let mut found = OnError::default();
    match step.get("onError") {
        None | Some(Value::Null) => {}
        Some(Value::String(id)) => {
            found.by_code.insert(String::from("*"), target(id));
        }
        Some(Value::Object(codes)) => {
            for (code, id) in codes {
                match id.as_str() {
                    _ if code.is_empty() => {
                        report.add(&field, "an error code is empty: write `*` for any error")
                    }
                    Some(id) => {
                        found.by_code.insert(code.clone(), target(id));
                    }
                    None => {
                        let message = format!("an error leads to a step id or to `end`, not to {}", kind(id));
                        report.add(&field.key(code), message);
                    }
                }
            }
        }
        Some(other) => {
            let message = format!(
                "`onError` is a step id, or an object from error code to step id, not {}",
                kind(other)
            );
            report.add(&field, message);
        }
    }
    found
}
