//! `jsonpath`: shapes an output by names and paths, as `outputMapping` writes them.

mod path;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stepwell_sdk::bindings::mapper::exports::stepwell::plugin::mapper::Guest;
use stepwell_sdk::step::parse;
use stepwell_sdk::{MapContext, PluginError};

use path::Path;

/// The mapper.
pub struct JsonPathMapper;

stepwell_sdk::heap!();

#[cfg(target_arch = "wasm32")]
stepwell_sdk::bindings::mapper::export!(JsonPathMapper with_types_in stepwell_sdk::bindings::mapper);

/// The contract's bare function: what is found is written from where it lies, without a copy.
impl Guest for JsonPathMapper {
    fn describe() -> String {
        json!({
            "types": ["jsonpath"],
            "version": env!("CARGO_PKG_VERSION"),
            "title": "Names and paths",
            "category": "Mappers",
            "icon": "route",
            "config_schema": {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "additionalProperties": {
                    "type": "string", "minLength": 1, "maxLength": 4096,
                    "description": "A JSONPath that begins with $ (RFC 9535), or a dotted path."
                },
            },
            "examples": [{
                "name": "a ticket's number",
                "config": { "id": "$.result.ticketId", "first": "result.labels.0", "gone": "$.nothing" },
                "input": { "result": { "ticketId": "OPS-1", "labels": ["a", "b"] } },
                "expect": { "first": "a", "gone": null, "id": "OPS-1" },
            }],
        })
        .to_string()
    }

    fn transform(context: MapContext, input: String) -> Result<String, PluginError> {
        let config: Map<String, Value> = parse("configuration", &context.config)?;
        let input: Value = parse("input", &input)?;
        let mut output = BTreeMap::new();
        for (name, path) in &config {
            let Some(text) = path.as_str() else {
                return Err(refuse(name, path, "a path is text"));
            };
            let parsed = Path::parse(text).map_err(|reason| refuse(name, path, &reason))?;
            output.insert(name, parsed.select(&input));
        }
        serde_json::to_string(&output)
            .map_err(|error| PluginError::Other(format!("the output cannot be written: {error}")))
    }
}

fn refuse(name: &str, path: &Value, reason: &str) -> PluginError {
    PluginError::InvalidConfig(format!(
        "the mapping of \"{name}\" has the path {path}, which cannot be used: {reason}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transform(config: Value, input: Value) -> Result<Value, PluginError> {
        let context = MapContext {
            tenant: "default".into(),
            workflow: "w".into(),
            instance: "i".into(),
            step: "s".into(),
            now: 0,
            seed: 0,
            config: config.to_string(),
            extra: "{}".into(),
        };
        let output = JsonPathMapper::transform(context, input.to_string())?;
        Ok(serde_json::from_str(&output).expect("JSON"))
    }

    #[test]
    fn one_match_is_a_value_several_are_an_array_none_is_null() {
        let input = json!({ "result": { "ticketId": "OPS-1", "tags": [{ "n": 1 }, { "n": 2 }] } });
        let config =
            json!({ "id": "$.result.ticketId", "all": "$.result.tags[*].n", "none": "$.nope", "whole": "$" });
        let output = transform(config, input.clone()).expect("mapped");
        assert_eq!(output, json!({ "id": "OPS-1", "all": [1, 2], "none": null, "whole": input }));
    }

    #[test]
    fn a_dotted_path_walks_members_and_items() {
        let input = json!({ "a": { "b": [{ "c": 7 }] }, "x.y": 1 });
        let config = json!({ "c": "a.b.0.c", "gone": "a.b.1.c", "deeper": "a.b.0.c.d" });
        assert_eq!(
            transform(config, input).expect("mapped"),
            json!({ "c": 7, "gone": null, "deeper": null })
        );
    }

    #[test]
    fn a_bad_path_is_refused_with_its_name() {
        for path in [json!("$.["), json!("a..b"), json!(""), json!(7)] {
            match transform(json!({ "ticket": path }), json!({})) {
                Err(PluginError::InvalidConfig(text)) => {
                    assert!(text.contains("ticket") && text.contains(&path.to_string()), "{text}");
                }
                other => panic!("{path}: {other:?}"),
            }
        }
    }

    #[test]
    fn an_array_that_matches_once_stays_as_it_is() {
        let output = transform(json!({ "list": "$.list" }), json!({ "list": [1] })).expect("mapped");
        assert_eq!(output, json!({ "list": [1] }));
    }
}
