//! `MOODY`, broken: it creates a task and traps on every event.

use serde::Deserialize;
use serde_json::{Value, json};
use stepwell_sdk::{Context, Effect, Event, Next, PluginError, RetryPolicy, Step, TaskSpec};

/// The step type.
pub struct Moody;

stepwell_sdk::export_step!(Moody);

/// The configuration.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// What workers poll for.
    #[serde(default = "task_type")]
    pub task_type: String,
}

fn task_type() -> String {
    "moody".into()
}

impl Step for Moody {
    type Config = Config;
    type State = Value;

    fn describe() -> Value {
        json!({
            "types": ["MOODY"],
            "version": "1",
            "title": "Moody",
            "category": "Tests",
            "state_version": 1,
            "effects": ["create-task"],
            "config_schema": { "type": "object", "properties": { "taskType": { "type": "string" } } },
        })
    }

    fn start(_: &Context, config: Config, _: Value) -> Result<Next<Value>, PluginError> {
        Ok(Next::waiting(json!({})).with(Effect::CreateTask(TaskSpec {
            key: "task".into(),
            topic: config.task_type,
            input: "{}".into(),
            priority: 5,
            timeout_ms: None,
            lock_ms: 300_000,
            retry: RetryPolicy {
                max_attempts: 3,
                initial_ms: 0,
                factor_percent: 100,
                max_ms: 0,
                jitter_percent: 0,
            },
            heartbeat: None,
            max_lock_expiries: 10,
            extra: "{}".into(),
        })))
    }

    fn on_event(_: &Context, _: Config, _: Value, event: Event) -> Result<Next<Value>, PluginError> {
        panic!("in a bad mood about {event:?}")
    }
}
