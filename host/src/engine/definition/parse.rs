//! The shape of a definition: its fields, each of the right type and with a known name.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::on_error::{self, END};
use super::priority::{self, Priorities};
use super::properties;
use super::report::{Field, Report, shorten};
use super::{NAME_CHARS_MAX, deadline, suggest, template, triggers};
use crate::domain::definition::{Deadline, Mapping, OnError, Template};
use crate::domain::json::canonical;
use crate::domain::trigger::Trigger;

const DOCUMENT_FIELDS: [&str; 11] = [
    "key",
    "name",
    "description",
    "version",
    "versionTag",
    "variables",
    "priority",
    "triggers",
    "deadline",
    "steps",
    "nodes",
];
const DOCUMENT_LATER: [&str; 1] = ["inputVariables"];
const STEP_FIELDS: [&str; 15] = [
    "id",
    "name",
    "description",
    "type",
    "config",
    "data",
    "dependsOn",
    "onError",
    "outputMapping",
    "mapper",
    "priority",
    "extensionProperties",
    "deadline",
    "until",
    "compensate",
];
const STEP_LATER: [&str; 3] = ["when", "retry", "retryWhen"];

/// The mapper behind `outputMapping`.
const JSONPATH: &str = "jsonpath";

/// A definition whose steps are not linked yet.
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) variables: Value,
    pub(super) triggers: Vec<Trigger>,
    pub(super) deadline: Option<Deadline>,
    pub(super) steps: Vec<DraftStep>,
}

/// A step that does not know its neighbours yet.
pub(super) struct DraftStep {
    pub(super) field: Field,
    /// Where `config` stands, under the name that the document uses.
    pub(super) config_field: Field,
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) step_type: String,
    pub(super) config: Template,
    /// The configuration as written, without `outputMapping`.
    pub(super) raw_config: Value,
    /// As declared.
    pub(super) depends_on: Option<Vec<String>>,
    pub(super) on_error: OnError,
    pub(super) mapping: Option<Mapping>,
    pub(super) properties: BTreeMap<String, String>,
    pub(super) deadline: Option<Deadline>,
    /// The step that it ends with.
    pub(super) until: Option<String>,
    /// The step that undoes it.
    pub(super) compensate: Option<String>,
    /// Where the mapper is named.
    pub(super) mapping_field: Field,
}

/// Reads the fields of a definition.
pub(super) fn document(value: &Value, steps_max: usize, report: &mut Report<'_>) -> Draft {
    let root = Field::root();
    let empty = Map::new();
    let document = value.as_object().unwrap_or(&empty);
    names(document, &root, &DOCUMENT_FIELDS, &DOCUMENT_LATER, report);
    text(document, "key", &root, report);
    text(document, "description", &root, report);
    text(document, "versionTag", &root, report);
    let name = text(document, "name", &root, report);
    let variables = match document.get("variables") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(variables) if variables.is_object() => variables.clone(),
        Some(other) => {
            report.add(&root.key("variables"), format!("`variables` is an object, not {}", kind(other)));
            Value::Object(Map::new())
        }
    };
    let priorities = priority::of_document(document, &root, report);
    let triggers = triggers::of_document(document, &root, report);
    let deadline = deadline::read(document, &root, report);
    let (list_name, list) = either(document, "steps", "nodes", &root, report);
    let field = root.key(list_name);
    let steps = match list {
        Some(Value::Array(steps)) if steps.is_empty() => {
            report.add(&field, "a workflow has at least one step");
            Vec::new()
        }
        Some(Value::Array(steps)) if steps.len() > steps_max => {
            report.add(&field, format!("there are {} steps; at most {steps_max} are taken", steps.len()));
            Vec::new()
        }
        Some(Value::Array(steps)) => steps
            .iter()
            .enumerate()
            .filter_map(|(at, value)| step(value, field.index(at), &priorities, report))
            .collect(),
        Some(other) => {
            report.add(&field, format!("`{list_name}` is a list of steps, not {}", kind(other)));
            Vec::new()
        }
        None => {
            report.add(&root, "a definition has a list `steps`");
            Vec::new()
        }
    };
    Draft { name, variables, triggers, deadline, steps }
}

fn step(value: &Value, field: Field, priorities: &Priorities, report: &mut Report<'_>) -> Option<DraftStep> {
    let Some(step) = value.as_object() else {
        report.add(&field, format!("a step is an object with `id` and `type`, not {}", kind(value)));
        return None;
    };
    names(step, &field, &STEP_FIELDS, &STEP_LATER, report);
    text(step, "description", &field, report);
    let id = required(step, "id", &field, report);
    if !id.is_empty() && !is_step_id(&id) {
        let message = format!(
            "`{}` is not a step id: use 1 to {NAME_CHARS_MAX} letters, digits, `-` and `_`",
            shorten(&id)
        );
        report.add(&field.key("id"), message);
    } else if id == END {
        report.add(
            &field.key("id"),
            "`end` cannot be the id of a step: in `onError` it means the end of the path",
        );
    }
    let step_type = required(step, "type", &field, report);
    let (config_name, config) = either(step, "config", "data", &field, report);
    let config_field = field.key(config_name);
    let mut config = match config {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(config)) => config.clone(),
        Some(other) => {
            report.add(&config_field, format!("`{config_name}` is an object, not {}", kind(other)));
            Map::new()
        }
    };
    priority::settle(step, &step_type, &mut config, priorities, &field, report);
    let inner = config.remove("outputMapping");
    let (mapping, mapping_field) = mapping(step, inner.as_ref(), &field, &config_field, report);
    let raw_config = Value::Object(config);
    Some(DraftStep {
        name: text(step, "name", &field, report),
        config: templates(&raw_config, &config_field, report),
        depends_on: depends_on(step, &field, report),
        on_error: on_error::read(step, &field, report),
        properties: properties::of_step(step, &field, report),
        deadline: deadline::read(step, &field, report),
        until: text(step, "until", &field, report),
        compensate: text(step, "compensate", &field, report),
        id,
        step_type,
        raw_config,
        mapping,
        mapping_field,
        config_field,
        field,
    })
}

fn is_step_id(id: &str) -> bool {
    id.len() <= NAME_CHARS_MAX && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

fn templates(config: &Value, field: &Field, report: &mut Report<'_>) -> Template {
    template::parse(config).unwrap_or_else(|flawed| {
        for (way, message) in flawed {
            report.add(&field.follow(&way), message);
        }
        Template::Literal(Value::Null)
    })
}

fn depends_on(step: &Map<String, Value>, field: &Field, report: &mut Report<'_>) -> Option<Vec<String>> {
    let field = field.key("dependsOn");
    let items = match step.get("dependsOn")? {
        Value::Null => return None,
        Value::String(id) => return Some(vec![id.clone()]),
        Value::Array(items) => items,
        other => {
            report.add(&field, format!("`dependsOn` is a step id or a list of them, not {}", kind(other)));
            return None;
        }
    };
    let mut ids = Vec::new();
    for (at, item) in items.iter().enumerate() {
        match item.as_str() {
            Some(id) if ids.iter().any(|known| known == id) => {
                report.add(&field.index(at), format!("`{}` is listed twice", shorten(id)));
            }
            Some(id) => ids.push(id.to_owned()),
            None => report.add(&field.index(at), format!("a step id is text, not {}", kind(item))),
        }
    }
    Some(ids)
}

fn mapping(
    step: &Map<String, Value>,
    inner: Option<&Value>,
    field: &Field,
    config_field: &Field,
    report: &mut Report<'_>,
) -> (Option<Mapping>, Field) {
    let present = |value: &&Value| !value.is_null();
    let beside = step.get("outputMapping").filter(present);
    let inner = inner.filter(present);
    let mapper = step.get("mapper").filter(present);
    let beside_field = field.key("outputMapping");
    if beside.is_some() && inner.is_some() {
        report.add(&beside_field, "`outputMapping` stands beside `config` and in it: keep one");
    }
    let (paths, paths_field) = match inner {
        Some(_) if beside.is_none() => (inner, config_field.key("outputMapping")),
        _ => (beside, beside_field),
    };
    match (paths, mapper) {
        (None, None) => (None, paths_field),
        (Some(_), Some(_)) => {
            report.add(&field.key("mapper"), "`outputMapping` and `mapper` both shape the output: keep one");
            (None, paths_field)
        }
        (Some(paths), None) => (output_mapping(paths, &paths_field, report), paths_field),
        (None, Some(mapper)) => (named_mapper(mapper, &field.key("mapper"), report), field.key("mapper")),
    }
}

fn output_mapping(paths: &Value, field: &Field, report: &mut Report<'_>) -> Option<Mapping> {
    let Some(members) = paths.as_object() else {
        report.add(field, format!("`outputMapping` is an object from name to path, not {}", kind(paths)));
        return None;
    };
    for (name, path) in members {
        if !path.is_string() {
            report.add(&field.key(name), format!("a path is text such as `$.result.id`, not {}", kind(path)));
        }
    }
    Some(Mapping { mapper: String::from(JSONPATH), config: canonical(paths), into_context: true })
}

fn named_mapper(mapper: &Value, field: &Field, report: &mut Report<'_>) -> Option<Mapping> {
    let empty = Value::Object(Map::new());
    let (name, config) = match mapper {
        Value::String(name) => (name.clone(), &empty),
        Value::Object(members) => {
            names(members, field, &["type", "name", "config"], &[], report);
            let (key, name) = either(members, "type", "name", field, report);
            match name {
                Some(Value::String(name)) => (name.clone(), members.get("config").unwrap_or(&empty)),
                _ => {
                    report.add(&field.key(key), "a mapper is named by its `type`, as text");
                    return None;
                }
            }
        }
        other => {
            let message = format!(
                "`mapper` is a mapper's type, or an object with `type` and `config`, not {}",
                kind(other)
            );
            report.add(field, message);
            return None;
        }
    };
    Some(Mapping { mapper: name, config: canonical(config), into_context: false })
}

/// Refuses fields that are not known, each with advice.
pub(super) fn names(
    object: &Map<String, Value>,
    field: &Field,
    known: &[&str],
    later: &[&str],
    report: &mut Report<'_>,
) {
    for name in object.keys() {
        if later.contains(&name.as_str()) {
            report.add(&field.key(name), format!("`{name}` is not supported yet: remove it"));
        } else if !known.contains(&name.as_str()) {
            let hint = suggest::hint(name, known.iter().copied());
            report.add(&field.key(name), format!("the field `{}` is not known: {hint}", shorten(name)));
        }
    }
}

/// A field that has two names; both at once are a mistake.
fn either<'a>(
    object: &'a Map<String, Value>,
    name: &'static str,
    other: &'static str,
    field: &Field,
    report: &mut Report<'_>,
) -> (&'static str, Option<&'a Value>) {
    match (object.get(name), object.get(other)) {
        (Some(value), None) => (name, Some(value)),
        (None, Some(value)) => (other, Some(value)),
        (None, None) => (name, None),
        (Some(value), Some(_)) => {
            report.add(&field.key(other), format!("`{other}` is another name of `{name}`: keep one"));
            (name, Some(value))
        }
    }
}

pub(super) fn text(
    object: &Map<String, Value>,
    name: &str,
    field: &Field,
    report: &mut Report<'_>,
) -> Option<String> {
    match object.get(name)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => {
            report.add(&field.key(name), format!("`{name}` is text, not {}: put it in quotes", kind(other)));
            None
        }
    }
}

/// A text that must be there; empty if it is not.
fn required(object: &Map<String, Value>, name: &str, field: &Field, report: &mut Report<'_>) -> String {
    match object.get(name) {
        None | Some(Value::Null) => report.add(field, format!("the step has no `{name}`")),
        Some(Value::String(text)) if text.is_empty() => {
            report.add(&field.key(name), format!("`{name}` is empty"))
        }
        Some(_) => return text(object, name, field, report).unwrap_or_default(),
    }
    String::new()
}

pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
