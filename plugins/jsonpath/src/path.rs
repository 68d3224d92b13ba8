//! A path into JSON, in either of two ways of writing.

use serde_json::Value;
use serde_json_path::JsonPath;

/// A path that was understood.
pub(crate) enum Path<'a> {
    /// RFC 9535: begins with `$`.
    Query(JsonPath),
    /// Names and numbers with dots between.
    Dotted(Vec<&'a str>),
}

impl<'a> Path<'a> {
    /// Understands a path, or says why not.
    pub(crate) fn parse(text: &'a str) -> Result<Self, String> {
        if text.starts_with('$') {
            return JsonPath::parse(text).map(Self::Query).map_err(|error| error.to_string());
        }
        let segments: Vec<&str> = text.split('.').collect();
        if segments.iter().any(|segment| segment.is_empty()) {
            return Err("it is neither a JSONPath that begins with $ nor names with dots between".into());
        }
        Ok(Self::Dotted(segments))
    }

    /// One match as it is, several as an array, none as null.
    pub(crate) fn select(&self, input: &Value) -> Value {
        match self {
            Self::Query(query) => {
                let mut matches = query.query(input).all();
                match matches.len() {
                    0 => Value::Null,
                    1 => matches.remove(0).clone(),
                    _ => matches.into_iter().cloned().collect(),
                }
            }
            Self::Dotted(segments) => segments
                .iter()
                .try_fold(input, |value, segment| match value {
                    Value::Array(items) => segment.parse().ok().and_then(|at: usize| items.get(at)),
                    other => other.get(segment),
                })
                .cloned()
                .unwrap_or(Value::Null),
        }
    }
}
