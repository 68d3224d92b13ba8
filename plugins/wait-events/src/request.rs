//! The request to the called service: what the author wrote, with both ids put in.

use serde_json::{Map, Value, json};
use stepwell_sdk::HttpRequest;
use stepwell_sdk::duration::parse_ms;

use crate::CALL;
use crate::config::word;

/// The time for one try.
const REQUEST_MS: u64 = 30_000;
/// The largest answer that a wait can hold.
const ANSWER_BYTES_MAX: u64 = 128 << 10;

/// A request.
pub(crate) struct Call {
    url: String,
    method: String,
    headers: Vec<(String, String)>,
    body: Option<Value>,
    fields: Names,
    header_names: Names,
    request_ms: u64,
    retry: Value,
    /// Whether the answer itself is the event.
    pub(crate) synchronous: bool,
}

/// Where the two ids go; empty for nowhere.
struct Names {
    execution: String,
    correlation: String,
}

/// The two ids.
pub(crate) struct Ids<'a> {
    pub(crate) execution: &'a str,
    pub(crate) correlation: &'a str,
}

impl Call {
    pub(crate) fn read(api: &Map<String, Value>) -> Result<Self, String> {
        if !api.contains_key("url") {
            return Err("apiCall: `url` is needed".into());
        }
        let name = |name: &str, usual: &str| match api.get(name) {
            Some(Value::String(text)) => text.clone(),
            _ => usual.to_owned(),
        };
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let headers = api.get("headers").and_then(Value::as_object);
        let request_ms = match api.get("requestTimeout") {
            Some(Value::Number(seconds)) => parse_ms(&seconds.to_string()),
            Some(Value::String(text)) => parse_ms(text),
            _ => Ok(REQUEST_MS),
        };
        Ok(Self {
            url: word(api, "url").unwrap_or_default().to_owned(),
            method: word(api, "method").unwrap_or("POST").to_owned(),
            headers: headers
                .map(|headers| headers.iter().map(|(name, value)| (name.clone(), text(value))).collect())
                .unwrap_or_default(),
            body: api.get("body").filter(|body| !body.is_null()).cloned(),
            fields: Names {
                execution: name("executionIdField", "execution_id"),
                correlation: name("correlationIdField", "correlation_id"),
            },
            header_names: Names {
                execution: name("executionIdHeader", "X-Execution-Id"),
                correlation: name("correlationIdHeader", "X-Correlation-Id"),
            },
            request_ms: request_ms.map_err(|why| format!("apiCall.requestTimeout: {why}"))?,
            retry: api.get("retry").cloned().unwrap_or(Value::Null),
            synchronous: word(api, "response") == Some("sync"),
        })
    }

    /// The request as the host sends it.
    pub(crate) fn request(&self, ids: &Ids<'_>, traceparent: Option<&str>) -> HttpRequest {
        let mut headers = self.headers.clone();
        let mut add = |name: &str, value: &str| {
            if !name.is_empty() {
                headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
                headers.push((name.to_owned(), value.to_owned()));
            }
        };
        add(&self.header_names.execution, ids.execution);
        add(&self.header_names.correlation, ids.correlation);
        if let Some(traceparent) = traceparent {
            add("traceparent", traceparent);
        }
        let body = self.body(ids);
        let typed = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if !typed && matches!(body, Some(Value::Object(_) | Value::Array(_))) {
            headers.push(("Content-Type".into(), "application/json".into()));
        }
        let body = match body {
            None => Vec::new(),
            Some(Value::String(text)) => text.into_bytes(),
            Some(value) => value.to_string().into_bytes(),
        };
        HttpRequest {
            key: CALL.into(),
            method: self.method.clone(),
            url: self.url.clone(),
            headers,
            body,
            timeout_ms: self.request_ms,
            extra: json!({ "retry": self.retry, "maxResponseBytes": ANSWER_BYTES_MAX }).to_string(),
        }
    }

    /// The body with both ids in it. Text that is no object stays as it is: then the headers carry them.
    fn body(&self, ids: &Ids<'_>) -> Option<Value> {
        let bodiless = matches!(self.method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "DELETE");
        let (mut object, as_text) = match &self.body {
            None if bodiless => return None,
            None => (Value::Object(Map::new()), false),
            Some(Value::String(text)) => match serde_json::from_str::<Value>(text) {
                Ok(object @ Value::Object(_)) => (object, true),
                _ => return self.body.clone(),
            },
            Some(body) => (body.clone(), false),
        };
        put(&mut object, &self.fields.execution, ids.execution);
        put(&mut object, &self.fields.correlation, ids.correlation);
        Some(if as_text { Value::String(object.to_string()) } else { object })
    }
}

/// Sets the member at a dotted path; what is no object on the way is left alone.
fn put(object: &mut Value, path: &str, id: &str) {
    if path.is_empty() {
        return;
    }
    let mut place = object;
    let parts: Vec<&str> = path.split('.').collect();
    for (at, part) in parts.iter().enumerate() {
        let Some(members) = place.as_object_mut() else { return };
        if at + 1 == parts.len() {
            members.insert((*part).to_owned(), id.into());
            return;
        }
        place = members.entry((*part).to_owned()).or_insert_with(|| Value::Object(Map::new()));
    }
}
