//! `EXTERNAL_TASK`: offers one task to workers outside, waits, and passes their result on.
//!
//! Locks, time-outs, heartbeats and retries are the host's: the plugin sees only how the task ended. It serves the
//! contract's bare functions, because what it passes on it need not understand: text stays text.

mod config;
mod descriptor;

use stepwell_sdk::bindings::step::exports::stepwell::plugin::step::Guest;
use stepwell_sdk::step::parse;
use stepwell_sdk::{Context, Effect, Event, Failure, Outcome, PluginError, Transition};

use config::Config;

/// The step type.
pub struct ExternalTask;

stepwell_sdk::heap!();

#[cfg(target_arch = "wasm32")]
stepwell_sdk::bindings::step::export!(ExternalTask with_types_in stepwell_sdk::bindings::step);

/// The key of the one task.
const TASK: &str = "task";

/// The version of the state's shape: an empty object.
const STATE_VERSION: u32 = 1;

impl Guest for ExternalTask {
    fn describe() -> String {
        descriptor::descriptor().to_string()
    }

    fn start(context: Context, _input: String) -> Result<Transition, PluginError> {
        let config: Config = parse("configuration", &context.config)?;
        let task = Effect::CreateTask(config.task(TASK)?);
        Ok(Transition { effects: vec![task], ..next("{}".into(), Outcome::Waiting) })
    }

    fn on_event(_: Context, state: String, event: Event) -> Result<Transition, PluginError> {
        let outcome = match event {
            Event::TaskCompleted(done) => Outcome::Completed(done.output),
            Event::TaskFailed(failed) => Outcome::Failed(Failure {
                code: failed.code,
                message: failed.message,
                retryable: false,
                details: failed.details,
            }),
            Event::CancelRequested(_) => Outcome::Waiting,
            other => {
                let sentence = format!("an external task does not expect {other:?}");
                return Err(PluginError::UnsupportedEvent(sentence));
            }
        };
        Ok(next(state, outcome))
    }
}

fn next(state: String, outcome: Outcome) -> Transition {
    Transition { state, state_version: STATE_VERSION, effects: Vec::new(), outcome, note: None }
}

#[cfg(test)]
mod tests;
