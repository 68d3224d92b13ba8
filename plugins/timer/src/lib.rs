//! `TIMER`, also called `DELAY`: waits for a while, until a moment, or for the next run of a cron expression.
//!
//! The plugin computes when, and the host keeps the timer: a component has no clock. The rules of the time zones are
//! inside the component, so a decision that is run again gives the same answer.

mod config;
mod descriptor;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_schedule::show_utc;
use stepwell_sdk::{Context, Effect, Event, Failure, Next, PluginError, Step, TimerSpec};

use config::{Config, Due};

/// The step type.
pub struct Timer;

stepwell_sdk::heap!();
stepwell_sdk::export_step!(Timer);

/// The key of the one timer.
const TIMER: &str = "timer";

/// An operator has withdrawn the timer.
const CANCELLED: &str = "timer-cancelled";

/// What the step remembers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// When the timer is due, in milliseconds.
    pub due_at_ms: i64,
}

impl Step for Timer {
    type Config = Config;
    type State = State;

    fn describe() -> Value {
        descriptor::descriptor()
    }

    fn start(context: &Context, config: Config, _: Value) -> Result<Next<State>, PluginError> {
        let now_ms = i64::try_from(context.now).unwrap_or(i64::MAX);
        let (at_ms, kind) = match config.due(now_ms).map_err(PluginError::InvalidConfig)? {
            // Only in a trial: what a template will bring is not known yet.
            Due::Unknown => return Ok(Next::waiting(State { due_at_ms: now_ms })),
            Due::Delay(at_ms) => (at_ms, "DELAY"),
            Due::Scheduled(at_ms) => (at_ms, "SCHEDULED"),
        };
        let at = u64::try_from(at_ms).unwrap_or(0);
        let timer = TimerSpec { key: TIMER.into(), at, kind: kind.into() };
        let note = format!("waits until {}", show_utc(at_ms));
        Ok(Next::waiting(State { due_at_ms: at_ms }).with(Effect::SetTimer(timer)).note(note))
    }

    fn on_event(
        context: &Context,
        _: Config,
        state: State,
        event: Event,
    ) -> Result<Next<State>, PluginError> {
        match event {
            Event::TimerFired(_) => {
                let now_ms = i64::try_from(context.now).unwrap_or(i64::MAX);
                let output = json!({ "triggeredAt": show_utc(now_ms), "dueAt": show_utc(state.due_at_ms) });
                Ok(Next::completed(state, &output))
            }
            Event::Custom(item) if item.kind == CANCELLED => Ok(Next::failed(state, cancelled())),
            Event::CancelRequested(_) => Ok(Next::waiting(state)),
            other => Err(PluginError::UnsupportedEvent(format!("a timer does not expect {other:?}"))),
        }
    }
}

fn cancelled() -> Failure {
    Failure {
        code: "timer_cancelled".into(),
        message: "an operator withdrew the timer".into(),
        retryable: false,
        details: "null".into(),
    }
}

#[cfg(test)]
mod tests;
