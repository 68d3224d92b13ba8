//! Variables of a request and of an answer, by scope: the instance's context, and the task's own.

use serde_json::{Map, Value, json};

use super::body::Fields;
use super::error::CamundaError;
use super::value;
use crate::domain::task::{LOCAL_VARIABLES, Task};
use crate::domain::variable::{Patch, TYPES, Variable, of_context};

/// Variables of one report at most.
const VARIABLES_MAX: usize = 10_000;

/// The variables of a field, to be set.
pub(super) fn patch(fields: &Fields, name: &str) -> Result<Patch, CamundaError> {
    let given = fields.object(name)?.unwrap_or_default().0;
    if given.len() > VARIABLES_MAX {
        let message = format!("'{name}' has {} variables; the limit is {VARIABLES_MAX}", given.len());
        return Err(CamundaError::invalid(message));
    }
    let mut set = Vec::with_capacity(given.len());
    for (name, given) in &given {
        set.extend(value::read(name, given)?);
    }
    Ok(Patch { set, remove: Vec::new() })
}

/// What a step's mapping sees of a worker's result: the plain values of all variables.
pub(super) fn output(global: &Patch, local: &Patch) -> Value {
    let all = global.set.iter().chain(&local.set);
    Value::Object(all.map(|variable| (variable.name.clone(), variable.value.clone())).collect())
}

/// A task's own variables, as they are kept with it.
pub(super) fn kept(local: &Patch) -> Option<Value> {
    let keep = |variable: &Variable| {
        (variable.name.clone(), json!({ "value": variable.value, "note": variable.note }))
    };
    (!local.set.is_empty()).then(|| Value::Object(local.set.iter().map(keep).collect()))
}

/// Which variables an answer has, and how.
#[derive(Clone, Debug, Default)]
pub(super) struct Wish {
    /// Only these; all if absent.
    pub(super) names: Option<Vec<String>>,
    /// Only the task's own.
    pub(super) local: bool,
    /// Objects as what they are, rather than as text.
    pub(super) deserialize: bool,
}

/// The variables that a task sees: its own ones hide those of the instance.
pub(super) fn visible(task: &Task, context: &Value, wish: &Wish) -> Value {
    let wanted =
        |name: &str| wish.names.as_ref().is_none_or(|names| names.iter().any(|wanted| wanted == name));
    let mut shown = Map::new();
    if !wish.local {
        for (name, value, note) in of_context(context).filter(|(name, ..)| wanted(name)) {
            shown.insert(name.clone(), value::write(value, note, wish.deserialize));
        }
    }
    for (name, value) in task.input.as_object().into_iter().flatten().filter(|(name, _)| wanted(name)) {
        // An input that is the instance's variable of that name has its type.
        let note = context.get(TYPES).and_then(|types| types.get(name));
        let note = note.filter(|_| context.get(name) == Some(value));
        shown.insert(name.clone(), value::write(value, note, wish.deserialize));
    }
    let own = task.checkpoint.as_ref().and_then(|kept| kept.get(LOCAL_VARIABLES)).and_then(Value::as_object);
    for (name, kept) in own.into_iter().flatten().filter(|(name, _)| wanted(name)) {
        let note = kept.get("note").filter(|note| !note.is_null());
        shown.insert(name.clone(), value::write(&kept["value"], note, wish.deserialize));
    }
    Value::Object(shown)
}
