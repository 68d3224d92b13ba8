//! Variables with types, as other engines' workers have them, inside an instance's context.
//!
//! A variable is a plain value of the context, so templates and mappings need not know of types. What the value alone
//! does not tell (a long, a date, bytes, a file's name) is noted beside it, in one member of the context.

use serde_json::{Map, Value};

/// The member of a context that has the types: from a variable's name to `{ "type", "valueInfo" }`.
pub const TYPES: &str = "_types";

/// A change of variables: all of it, or nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch {
    /// Variables to set.
    pub set: Vec<Variable>,
    /// Variables to remove.
    pub remove: Vec<String>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value, as templates see it.
    pub value: Value,
    /// What the value alone does not tell: `type` and `valueInfo`.
    pub note: Option<Value>,
}

impl Patch {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.remove.is_empty()
    }

    /// The context with this change.
    pub fn applied(&self, context: &Value) -> Value {
        let mut members = context.as_object().cloned().unwrap_or_default();
        let mut types = match members.remove(TYPES) {
            Some(Value::Object(types)) => types,
            _ => Map::new(),
        };
        for name in &self.remove {
            members.remove(name);
            types.remove(name);
        }
        for Variable { name, value, note } in &self.set {
            members.insert(name.clone(), value.clone());
            match note {
                Some(note) => types.insert(name.clone(), note.clone()),
                None => types.remove(name),
            };
        }
        if !types.is_empty() {
            members.insert(TYPES.into(), Value::Object(types));
        }
        Value::Object(members)
    }
}

/// The variables of a context, each with its note.
pub fn of_context(context: &Value) -> impl Iterator<Item = (&String, &Value, Option<&Value>)> {
    let types = context.get(TYPES);
    let members = context.as_object().into_iter().flatten();
    members
        .filter(|(name, _)| *name != TYPES)
        .map(move |(name, value)| (name, value, types.and_then(|types| types.get(name))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_stand_beside_values_and_go_with_them() {
        let long = Variable { name: "n".into(), value: json!(1), note: Some(json!({ "type": "Long" })) };
        let plain = Variable { name: "s".into(), value: json!("x"), note: None };
        let patch = Patch { set: vec![long, plain], remove: Vec::new() };
        let context = patch.applied(&json!({ "a": true }));
        assert_eq!(context, json!({ "a": true, "n": 1, "s": "x", "_types": { "n": { "type": "Long" } } }));
        let seen: Vec<_> =
            of_context(&context).map(|(name, _, note)| (name.as_str(), note.is_some())).collect();
        assert_eq!(seen, [("a", false), ("n", true), ("s", false)]);
        let gone = Patch { set: Vec::new(), remove: vec!["n".into()] };
        assert_eq!(gone.applied(&context), json!({ "a": true, "s": "x" }));
    }
}
