//! Typed values, `{ "value", "type", "valueInfo" }`, and the plain ones that they are stored as.

use base64::Engine as _;
use chrono::DateTime;
use serde_json::{Map, Value, json};

use super::body::Fields;
use super::error::CamundaError;
use crate::domain::json;
use crate::domain::variable::{TYPES, Variable};

/// Camunda's dates.
pub(super) const DATE: &str = "%Y-%m-%dT%H:%M:%S%.3f%z";
/// Objects that are JSON are stored as what they are; others as the text that they came as.
const JSON_FORMAT: &str = "application/json";

/// A variable as it came; none if it is not to be kept.
pub(super) fn read(name: &str, given: &Value) -> Result<Option<Variable>, CamundaError> {
    if name == TYPES {
        return Err(CamundaError::invalid(format!("a variable cannot be called '{TYPES}'")));
    }
    let fields = Fields::of(given).map_err(|_| {
        CamundaError::invalid(format!("the variable '{name}' is no object with 'value' and 'type'"))
    })?;
    let mut info = fields.object("valueInfo")?.unwrap_or_default().0;
    let transient = info.remove("transient") == Some(Value::Bool(true));
    let value = fields.0.get("value").cloned().unwrap_or_default();
    let (value, kind) = match fields.text("type")? {
        None => untyped(value, &mut info),
        Some(given) => {
            let kind = capitalised(&given);
            (stored(&kind, &given, value, &info)?, kind)
        }
    };
    json::check(&value).map_err(|flaw| CamundaError::invalid(format!("the variable '{name}' {flaw}")))?;
    let plain = info.is_empty() && kind == inferred(&value);
    let note = (!plain).then(|| {
        let mut note = json!({ "type": kind });
        if !info.is_empty() {
            note["valueInfo"] = Value::Object(info);
        }
        note
    });
    Ok((!transient).then(|| Variable { name: name.to_owned(), value, note }))
}

/// A stored value as Camunda writes it.
pub(super) fn write(value: &Value, note: Option<&Value>, deserialize: bool) -> Value {
    let noted = note.and_then(|note| note["type"].as_str()).filter(|kind| fits(kind, value));
    let kind = noted.unwrap_or_else(|| inferred(value));
    let info = noted.and_then(|_| note?.get("valueInfo")).cloned().unwrap_or_else(|| json!({}));
    let text = |value: &Value| match value {
        Value::Null => Value::Null,
        _ if deserialize => value.clone(),
        value => Value::String(json::canonical(value)),
    };
    let shown = match kind {
        "File" => Value::Null,
        "Json" => text(value),
        "Object" if info["serializationDataFormat"] == JSON_FORMAT => text(value),
        "Double" => value.as_f64().map_or(Value::Null, Value::from),
        _ => value.clone(),
    };
    json!({ "type": kind, "value": shown, "valueInfo": info })
}

/// The bytes of a file or of bytes, with the file's info; none if it is neither.
pub(super) fn bytes(value: &Value, note: Option<&Value>) -> Option<(Vec<u8>, Value)> {
    let note = note?;
    if !matches!(note["type"].as_str(), Some("File" | "Bytes")) {
        return None;
    }
    let text = value.as_str().unwrap_or_default();
    Some((decode(text).unwrap_or_default(), note["valueInfo"].clone()))
}

/// Names are told apart by their first letter's case only by accident.
fn capitalised(kind: &str) -> String {
    let mut letters = kind.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn untyped(value: Value, info: &mut Map<String, Value>) -> (Value, String) {
    if !value.is_array() && !value.is_object() {
        let kind = inferred(&value).to_owned();
        return (value, kind);
    }
    let class = if value.is_array() { "java.util.ArrayList" } else { "java.util.LinkedHashMap" };
    info.entry("objectTypeName").or_insert_with(|| json!(class));
    info.insert("serializationDataFormat".into(), json!(JSON_FORMAT));
    (value, "Object".into())
}

fn inferred(value: &Value) -> &'static str {
    match value {
        Value::Null => "Null",
        Value::Bool(_) => "Boolean",
        Value::Number(number) => match number.as_i64() {
            Some(number) if i32::try_from(number).is_ok() => "Integer",
            Some(_) => "Long",
            None => "Double",
        },
        Value::String(_) => "String",
        Value::Array(_) | Value::Object(_) => "Json",
    }
}

/// Whether a value can be of a type: somebody else may have changed it since the type was noted.
fn fits(kind: &str, value: &Value) -> bool {
    match kind {
        _ if value.is_null() => true,
        "Boolean" => value.is_boolean(),
        "Short" | "Integer" | "Long" => value.is_i64(),
        "Double" => value.is_number(),
        "Json" | "Object" => true,
        _ => value.is_string(),
    }
}

/// The value as it is stored. Complaints name the type as it was `given`.
fn stored(kind: &str, given: &str, value: Value, info: &Map<String, Value>) -> Result<Value, CamundaError> {
    let range = |min: i64, max: i64, class: &str| {
        let number = match &value {
            Value::Null => return Ok(Value::Null),
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number
            .filter(|number| (min..=max).contains(number))
            .map(Value::from)
            .ok_or_else(|| unfit(given, &value, class))
    };
    match kind {
        "Null" => Ok(Value::Null),
        "Boolean" => match &value {
            Value::Null | Value::Bool(_) => Ok(value),
            Value::String(text) if text == "true" || text == "false" => Ok(Value::Bool(text == "true")),
            _ => Err(unfit(given, &value, "java.lang.Boolean")),
        },
        "Short" => range(i16::MIN.into(), i16::MAX.into(), "java.lang.Short"),
        "Integer" => range(i32::MIN.into(), i32::MAX.into(), "java.lang.Integer"),
        "Long" => range(i64::MIN, i64::MAX, "java.lang.Long"),
        "Double" => match &value {
            Value::Null => Ok(value),
            Value::Number(number) => Ok(number.as_f64().map_or(Value::Null, Value::from)),
            Value::String(text) => {
                let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
                number.map(Value::from).ok_or_else(|| unfit(given, &value, "java.lang.Double"))
            }
            _ => Err(unfit(given, &value, "java.lang.Double")),
        },
        "String" => match &value {
            Value::Null | Value::String(_) => Ok(value),
            Value::Number(_) | Value::Bool(_) => Ok(Value::String(value.to_string())),
            _ => Err(unfit(given, &value, "java.lang.String")),
        },
        "Date" => date(given, &value),
        "Bytes" | "File" => encoded(kind, given, value, info),
        "Json" => parsed(given, value),
        "Xml" => text_only(given, value),
        "Object" if info.get("serializationDataFormat") == Some(&json!(JSON_FORMAT)) => parsed(given, value),
        "Object" => text_only(given, value),
        _ => Err(CamundaError::rest(format!("Unsupported value type '{given}'"))),
    }
}

fn date(given: &str, value: &Value) -> Result<Value, CamundaError> {
    let Some(text) = value.as_str() else {
        return if value.is_null() { Ok(Value::Null) } else { Err(unfit(given, value, "java.util.Date")) };
    };
    let read = DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z")
        .or_else(|_| DateTime::parse_from_rfc3339(text));
    read.map(|date| Value::String(date.to_utc().format(DATE).to_string()))
        .map_err(|_| unfit(given, value, "java.util.Date"))
}

fn encoded(kind: &str, given: &str, value: Value, info: &Map<String, Value>) -> Result<Value, CamundaError> {
    if kind == "File" && !info.get("filename").is_some_and(Value::is_string) {
        return Err(CamundaError::rest("The valueInfo of a file has a 'filename'"));
    }
    match &value {
        Value::Null => Ok(value),
        Value::String(text) if decode(text).is_some() => Ok(value),
        _ => Err(unfit(given, &value, "byte[]")),
    }
}

/// Bytes from base64, with line breaks as some clients send it.
fn decode(text: &str) -> Option<Vec<u8>> {
    let plain: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    base64::engine::general_purpose::STANDARD.decode(plain).ok()
}

fn parsed(kind: &str, value: Value) -> Result<Value, CamundaError> {
    let value = text_only(kind, value)?;
    let Some(text) = value.as_str() else { return Ok(value) };
    serde_json::from_str(text).map_err(|error| {
        CamundaError::invalid(format!("Cannot parse the value of type '{kind}' as JSON: {error}"))
    })
}

fn text_only(kind: &str, value: Value) -> Result<Value, CamundaError> {
    match value {
        Value::Null | Value::String(_) => Ok(value),
        _ => Err(CamundaError::invalid(format!(
            "Must provide 'null' or String value for value of SerializableValue type '{kind}'."
        ))),
    }
}

fn unfit(kind: &str, value: &Value, class: &str) -> CamundaError {
    let shown = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    let shown: String = shown.chars().take(100).collect();
    CamundaError::invalid(format!("Cannot convert value '{shown}' of type '{kind}' to java type {class}"))
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
