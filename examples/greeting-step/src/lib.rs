//! `GREETING`: a step type of your own. Greets at once, or after a while.

use serde::Deserialize;
use serde_json::{Value, json};
use stepwell_sdk::duration::Millis;
use stepwell_sdk::{Context, Effect, Event, Next, PluginError, Step, TimerSpec};

/// The step type.
pub struct Greeting;

stepwell_sdk::export_step!(Greeting);

/// What an author writes under `config`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Who is greeted.
    pub name: String,
    /// In which language: `en`, `cs` or `de`.
    #[serde(default)]
    pub language: Language,
    /// How long to wait before.
    pub after_seconds: Option<Millis>,
}

/// A language that it can greet in.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Czech.
    Cs,
    /// German.
    De,
}

impl Step for Greeting {
    type Config = Config;
    type State = Value;

    fn describe() -> Value {
        json!({
            "types": ["GREETING"],
            "version": env!("CARGO_PKG_VERSION"),
            "title": "Greeting",
            "category": "Examples",
            "icon": "smile",
            "state_version": 1,
            "effects": ["set-timer"],
            "config_schema": {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "required": ["name"],
                "additionalProperties": false,
                "properties": {
                    "name": { "type": "string", "minLength": 1, "title": "Name" },
                    "language": { "enum": ["en", "cs", "de"], "default": "en", "title": "Language" },
                    "afterSeconds": { "type": "number", "minimum": 0, "title": "Wait, in seconds" },
                },
            },
            "output_schema": { "type": "object", "properties": { "greeting": { "type": "string" } } },
            "examples": [{
                "name": "greets at once",
                "config": { "name": "Ada" },
                "input": {},
                "expect": { "outcome": { "kind": "completed", "output": { "greeting": "Hello, Ada!" } } },
            }],
        })
    }

    fn start(context: &Context, config: Config, _input: Value) -> Result<Next<Value>, PluginError> {
        match config.after_seconds {
            None => Ok(greet(&config)),
            Some(wait) => {
                let at = context.now.saturating_add(wait.0);
                let timer = TimerSpec { key: "wait".into(), at, kind: "DELAY".into() };
                Ok(Next::waiting(json!({})).with(Effect::SetTimer(timer)).note("waits before it greets"))
            }
        }
    }

    fn on_event(_: &Context, config: Config, state: Value, event: Event) -> Result<Next<Value>, PluginError> {
        match event {
            Event::TimerFired(_) => Ok(greet(&config)),
            Event::CancelRequested(_) => Ok(Next::waiting(state)),
            other => Err(PluginError::UnsupportedEvent(format!("a greeting does not expect {other:?}"))),
        }
    }
}

fn greet(config: &Config) -> Next<Value> {
    let hello = match config.language {
        Language::En => "Hello",
        Language::Cs => "Ahoj",
        Language::De => "Hallo",
    };
    Next::completed(json!({}), &json!({ "greeting": format!("{hello}, {}!", config.name) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepwell_sdk::Outcome;

    fn context() -> Context {
        Context {
            tenant: "default".into(),
            workflow: "w".into(),
            instance: "i".into(),
            step: "s".into(),
            attempt: 1,
            seq: 0,
            now: 1_000,
            seed: 0,
            config: "{}".into(),
            extra: "{}".into(),
        }
    }

    fn config(value: Value) -> Config {
        serde_json::from_value(value).expect("a good configuration")
    }

    #[test]
    fn it_greets_in_a_language() {
        let next = Greeting::start(&context(), config(json!({ "name": "Eva", "language": "cs" })), json!({}));
        let greeting = json!({ "greeting": "Ahoj, Eva!" }).to_string();
        assert_eq!(next.expect("an answer").outcome, Outcome::Completed(greeting));
    }

    #[test]
    fn it_waits_if_told_to() {
        let told = || config(json!({ "name": "Eva", "afterSeconds": 2 }));
        let next = Greeting::start(&context(), told(), json!({})).expect("an answer");
        let timer = TimerSpec { key: "wait".into(), at: 3_000, kind: "DELAY".into() };
        assert_eq!((next.outcome, next.effects), (Outcome::Waiting, vec![Effect::SetTimer(timer)]));
        let next = Greeting::on_event(&context(), told(), next.state, Event::TimerFired("wait".into()));
        assert!(matches!(next.expect("an answer").outcome, Outcome::Completed(_)));
    }
}
