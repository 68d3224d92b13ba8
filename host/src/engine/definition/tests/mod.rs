//! Definitions, table by table: what is taken, what is refused and where, and what templates give.

mod accepted;
mod mistakes;
mod reading;
mod templates;
mod triggers;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{Document, compile, read};
use crate::domain::Digest;
use crate::domain::definition::Workflow;
use crate::domain::limits::Limits;
use crate::domain::plugin::{Descriptor, Fault, MapCall, StepCall};
use crate::domain::transition::Transition;
use crate::engine::Error;
use crate::engine::port::{Answer, Plugins, StepType};

/// A small list of types with the shape of a schema; what is called is not of interest here.
struct Types;

#[async_trait]
impl Plugins for Types {
    fn step_type(&self, name: &str) -> Option<StepType> {
        let config_schema = json!({
            "type": "object",
            "required": ["taskType"],
            "additionalProperties": false,
            "properties": {
                "taskType": {}, "input": {}, "timeout": {}, "lockDuration": {}, "retries": {"type": "integer"},
                "heartbeat": {},
            },
        });
        let descriptor = match name {
            "EXTERNAL_TASK" => Descriptor { config_schema, ..Descriptor::default() },
            "PASS" => Descriptor::default(),
            _ => return None,
        };
        Some(StepType { digest: Digest::of(name.as_bytes()), descriptor: Arc::new(descriptor) })
    }

    fn mapper(&self, name: &str) -> Option<StepType> {
        ["jsonpath", "shout"].contains(&name).then(|| StepType {
            digest: Digest::of(name.as_bytes()),
            descriptor: Arc::new(Descriptor::default()),
        })
    }

    fn step_type_names(&self) -> Vec<String> {
        vec![String::from("PASS"), String::from("EXTERNAL_TASK")]
    }

    fn check_config(&self, digest: &Digest, config: &Value) -> Vec<(String, String)> {
        if *digest != Digest::of(b"EXTERNAL_TASK") {
            return Vec::new();
        }
        let mut found = Vec::new();
        if config.get("taskType").is_none() {
            found.push((String::new(), String::from("`taskType` is missing")));
        }
        if config.get("retries").is_some_and(|retries| !retries.is_i64()) {
            found.push((String::from("/retries"), String::from("is not an integer")));
        }
        found
    }

    async fn call_step(&self, _: &Digest, _: &StepCall) -> Result<Answer<Transition>, Fault> {
        Err(uncalled())
    }

    async fn transform(&self, _: &Digest, _: &MapCall) -> Result<Answer<Value>, Fault> {
        Err(uncalled())
    }
}

fn uncalled() -> Fault {
    Fault { code: "plugin_missing", message: String::from("a definition calls no plugin"), transient: false }
}

fn document(source: &str) -> Document {
    read(source, &Limits::default()).unwrap()
}

fn deploy(source: &str) -> Result<Workflow, Error> {
    let limits = Limits::default();
    compile(&read(source, &limits)?, "test", 1, limits.definition_steps_max, &Types)
}

/// The mistakes of a document, as `line:column field: message`.
fn mistakes(source: &str) -> Vec<String> {
    match deploy(source) {
        Ok(_) => Vec::new(),
        Err(Error::Invalid { code, details, .. }) => {
            assert_eq!(code, "definition_invalid");
            let place = |at: Option<usize>| at.map_or(String::from("?"), |at| at.to_string());
            let written = details.into_iter().map(|mistake| {
                format!(
                    "{}:{} {}: {}",
                    place(mistake.line),
                    place(mistake.column),
                    mistake.field,
                    mistake.message
                )
            });
            written.collect()
        }
        Err(other) => vec![other.to_string()],
    }
}
