//! The step type `CALLER`: sends the request of its configuration, and completes with the answer.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_sdk::{Context, Effect, Event, HttpRequest, Message, Next, PluginError, Step};

/// The step type.
pub struct Caller;

stepwell_sdk::heap!();
stepwell_sdk::export_step!(Caller);

/// What to send.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Config {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: String,
    timeout_ms: u64,
    extra: Value,
    /// Tells subscribers instead.
    publish: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            method: "POST".into(),
            url: String::new(),
            headers: Vec::new(),
            body: String::new(),
            timeout_ms: 0,
            extra: json!({}),
            publish: false,
        }
    }
}

/// Nothing is remembered.
#[derive(Serialize, Deserialize)]
pub struct State {}

impl Step for Caller {
    type Config = Config;
    type State = State;

    fn describe() -> Value {
        json!({
            "types": ["CALLER"],
            "version": "1",
            "state_version": 1,
            "effects": ["http-call", "publish"],
        })
    }

    fn start(_: &Context, config: Config, _: Value) -> Result<Next<State>, PluginError> {
        if config.publish {
            let (key, name, payload) = ("note".into(), "note".into(), json!(config.body).to_string());
            let note = Message { key, name, correlation: None, payload, headers: Vec::new() };
            return Ok(Next::waiting(State {}).with(Effect::Publish(note)));
        }
        let request = HttpRequest {
            key: "call".into(),
            method: config.method,
            url: config.url,
            headers: config.headers,
            body: config.body.into_bytes(),
            timeout_ms: config.timeout_ms,
            extra: config.extra.to_string(),
        };
        Ok(Next::waiting(State {}).with(Effect::HttpCall(request)))
    }

    fn on_event(_: &Context, _: Config, state: State, event: Event) -> Result<Next<State>, PluginError> {
        match event {
            Event::HttpResponse(answer) => {
                let body = String::from_utf8_lossy(&answer.body);
                let output = json!({ "key": answer.key, "status": answer.status, "headers": answer.headers, "body": body });
                Ok(Next::completed(state, &output))
            }
            Event::CancelRequested(_) => Ok(Next::waiting(state)),
            other => Err(PluginError::UnsupportedEvent(format!("{other:?}"))),
        }
    }
}
