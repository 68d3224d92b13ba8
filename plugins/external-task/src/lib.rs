//! `EXTERNAL_TASK`: offers one task to workers outside, waits, and passes their result on.
//!
//! Locks, time-outs, heartbeats and retries are the host's: the plugin sees only how the task ended.

mod config;
mod descriptor;

use serde_json::{Value, json};
use stepwell_sdk::{Context, Effect, Event, Failure, Next, PluginError, Step};

use config::Config;

/// The step type.
pub struct ExternalTask;

stepwell_sdk::export_step!(ExternalTask);

/// The key of the one task.
const TASK: &str = "task";

impl Step for ExternalTask {
    type Config = Config;
    type State = Value;

    fn describe() -> Value {
        descriptor::descriptor()
    }

    fn start(_context: &Context, config: Config, _input: Value) -> Result<Next<Value>, PluginError> {
        let task = config.task(TASK)?;
        Ok(Next::waiting(json!({})).with(Effect::CreateTask(task)))
    }

    fn on_event(_: &Context, _: Config, state: Value, event: Event) -> Result<Next<Value>, PluginError> {
        match event {
            Event::TaskCompleted(done) => {
                let output = stepwell_sdk::step::parse("output", &done.output)?;
                Ok(Next::completed(state, &output))
            }
            Event::TaskFailed(failed) => Ok(Next::failed(
                state,
                Failure {
                    code: failed.code,
                    message: failed.message,
                    retryable: false,
                    details: failed.details,
                },
            )),
            Event::CancelRequested(_) => Ok(Next::waiting(state)),
            other => {
                Err(PluginError::UnsupportedEvent(format!("an external task does not expect {other:?}")))
            }
        }
    }
}

#[cfg(test)]
mod tests;
