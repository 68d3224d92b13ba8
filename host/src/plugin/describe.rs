//! What a component says of itself, checked: names, effects, schemas.

use serde_json::Value;

use super::LoadError;
use crate::domain::json;
use crate::domain::plugin::{Descriptor, PluginKind};

/// The effects of the contract, as descriptors list them.
const EFFECTS: [&str; 10] = [
    "create-task",
    "cancel-task",
    "set-timer",
    "cancel-timer",
    "subscribe",
    "unsubscribe",
    "publish",
    "http-call",
    "notify",
    "custom",
];

/// Type names of one component.
const TYPES_MAX: usize = 32;

/// The longest type name.
const NAME_CHARS_MAX: usize = 100;

/// A descriptor that makes sense.
pub(super) struct Described {
    pub(super) descriptor: Descriptor,
    pub(super) document: Value,
    pub(super) config: Option<jsonschema::Validator>,
}

/// Reads what `describe` returned.
pub(super) fn read(text: &str, kind: PluginKind) -> Result<Described, LoadError> {
    let document: Value = serde_json::from_str(text)
        .map_err(|error| invalid(format!("`describe` did not return JSON: {error}")))?;
    json::check(&document).map_err(|flaw| invalid(format!("its descriptor {flaw}")))?;
    let descriptor: Descriptor = serde_json::from_value(document.clone())
        .map_err(|error| invalid(format!("its descriptor cannot be read: {error}")))?;
    names(&descriptor)?;
    if let Some(unknown) = descriptor.effects.iter().find(|effect| !EFFECTS.contains(&effect.as_str())) {
        return Err(invalid(format!(
            "its descriptor lists the effect \"{unknown}\"; there are {}",
            EFFECTS.join(", ")
        )));
    }
    if kind == PluginKind::Mapper && !descriptor.effects.is_empty() {
        return Err(invalid("its descriptor lists effects, and a mapper has none".into()));
    }
    if let Some(pointer) = descriptor.input_select.iter().find(|pointer| !pointer.starts_with('/')) {
        return Err(invalid(format!(
            "`input_select` has \"{pointer}\", which is no JSON pointer: it begins with /"
        )));
    }
    let config = schema("config_schema", &descriptor.config_schema)?;
    schema("output_schema", &descriptor.output_schema)?;
    Ok(Described { descriptor, document, config })
}

fn names(descriptor: &Descriptor) -> Result<(), LoadError> {
    if descriptor.types.is_empty() || descriptor.types.len() > TYPES_MAX {
        let count = descriptor.types.len();
        return Err(invalid(format!(
            "its descriptor names {count} types; it must name 1 to {TYPES_MAX} under `types`"
        )));
    }
    for name in &descriptor.types {
        let fits = (1..=NAME_CHARS_MAX).contains(&name.chars().count())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        if !fits {
            let message = format!(
                "the type name {name:?} is not 1 to {NAME_CHARS_MAX} letters, digits, '_', '-' and '.'"
            );
            return Err(invalid(message));
        }
    }
    Ok(())
}

/// Never fetches anything: a schema that points elsewhere is refused.
fn schema(what: &str, schema: &Value) -> Result<Option<jsonschema::Validator>, LoadError> {
    if schema.is_null() {
        return Ok(None);
    }
    jsonschema::draft202012::options()
        .offline()
        .build(schema)
        .map(Some)
        .map_err(|error| invalid(format!("its `{what}` is no JSON Schema (2020-12): {error}")))
}

fn invalid(message: String) -> LoadError {
    LoadError::new("descriptor_invalid", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        read(text, PluginKind::Step).err().expect("refused").message
    }

    #[test]
    fn a_descriptor_must_make_sense() {
        assert!(refused("nonsense").contains("JSON"));
        assert!(refused("{}").contains("0 types"));
        assert!(refused(r#"{"types":["A B"]}"#).contains("A B"));
        assert!(refused(r#"{"types":["A"],"effects":["explode"]}"#).contains("explode"));
        assert!(refused(r#"{"types":["A"],"input_select":["a"]}"#).contains("pointer"));
        assert!(refused(r#"{"types":["A"],"config_schema":{"type":"objekt"}}"#).contains("config_schema"));
        assert!(
            refused(r#"{"types":["A"],"output_schema":{"$ref":"https://example.com/x"}}"#)
                .contains("output_schema")
        );
    }

    #[test]
    fn unknown_fields_are_kept_in_the_document() {
        let described = read(r#"{"types":["A"],"colour":"red"}"#, PluginKind::Step).unwrap();
        assert_eq!(described.document["colour"], "red");
        assert_eq!(described.descriptor.types, ["A"]);
    }
}
