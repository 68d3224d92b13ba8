//! JSON as data: canonical text, depth, and characters that a database cannot keep.

use std::io;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use serde_json::value::RawValue;

/// JSON as the text that it was written as. By itself it is a string in other JSON; [`JsonText::raw`] is a part of it.
#[derive(Clone, Debug)]
pub struct JsonText(Box<RawValue>);

impl JsonText {
    /// Something as JSON.
    pub fn of(value: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Text, if it is JSON.
    pub fn parse(text: String) -> serde_json::Result<Self> {
        RawValue::from_string(text).map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// It, to stand in other JSON as it is.
    pub fn raw(self) -> Box<RawValue> {
        self.0
    }
}

impl From<Box<RawValue>> for JsonText {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // Text that is no JSON, which nothing writes, must not make unreadable what stands beside it.
        let raw = serde_json::from_str::<&RawValue>(&text).map(|raw| Self(raw.to_owned()));
        raw.or_else(|_| Self::of(&text)).map_err(de::Error::custom)
    }
}

/// Canonical text: object keys sorted (as `serde_json`'s map keeps them), no white space.
pub fn canonical(value: &Value) -> String {
    // `to_string` of the value itself goes through a formatter, piece by piece.
    serde_json::to_string(value).unwrap_or_default()
}

/// The length of the canonical text, without making it.
pub fn canonical_bytes(value: &Value) -> usize {
    let mut count = Count(0);
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// Counts what is written.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is wrong with JSON from outside, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// PostgreSQL's jsonb cannot hold it.
    #[error("contains the character U+0000, which cannot be stored")]
    Nul,
    /// Nested more deeply than anything sensible.
    #[error("is nested more than {DEPTH_MAX} levels deep")]
    TooDeep,
}

/// The deepest nesting taken from outside.
pub const DEPTH_MAX: usize = 64;

/// Checks JSON that came from outside.
pub fn check(value: &Value) -> Result<(), Flaw> {
    check_within(value, 0)
}

/// Checks JSON that will lie so many levels deep in other JSON.
pub fn check_within(value: &Value, depth: usize) -> Result<(), Flaw> {
    if depth > DEPTH_MAX {
        return Err(Flaw::TooDeep);
    }
    match value {
        Value::String(text) if text.contains('\0') => Err(Flaw::Nul),
        Value::Array(items) => items.iter().try_for_each(|item| check_within(item, depth + 1)),
        Value::Object(map) => map.iter().try_for_each(|(key, item)| {
            if key.contains('\0') {
                return Err(Flaw::Nul);
            }
            check_within(item, depth + 1)
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_length_is_that_of_the_text() {
        let value = json!({ "b": [1, -2.5, null, true], "a": { "quote\"": "line\nč\u{1}" }, "": "" });
        let text = canonical(&value);
        assert_eq!(text, value.to_string());
        assert_eq!(canonical_bytes(&value), text.len());
    }
}
