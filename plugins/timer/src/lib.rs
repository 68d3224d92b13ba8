//! `TIMER`, also called `DELAY`: waits for a while, until a moment, or for the next run of a cron expression.
//!
//! The plugin computes when, and the host keeps the timer: a component has no clock. The rules of the time zones are
//! inside the component, so a decision that is run again gives the same answer.

mod config;
mod descriptor;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_notice::{Notice, Series, Step as Then};
use stepwell_schedule::show_utc;
use stepwell_sdk::{Context, Effect, Event, Failure, Next, Notification, PluginError, Step, TimerSpec};

use config::{Config, Due};

/// The step type.
pub struct Timer;

stepwell_sdk::heap!();
stepwell_sdk::export_step!(Timer);

/// The key of the one timer.
const TIMER: &str = "timer";

/// The key of the timer before the next reminder.
const AGAIN: &str = "next";

/// An operator has withdrawn the timer.
const CANCELLED: &str = "timer-cancelled";

/// What was sent has arrived, or was given up.
const NOTIFIED: &str = "notified";

/// The step of `until` has ended.
const ENDED: &str = "step-ended";

/// What the step remembers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// When the timer is due, in milliseconds.
    pub due_at_ms: i64,
    /// When it fired, in milliseconds, if the step goes on with its reminders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fired_at_ms: Option<i64>,
    /// The reminders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
}

impl State {
    fn due(due_at_ms: i64) -> Self {
        Self { due_at_ms, fired_at_ms: None, series: None }
    }
}

impl Step for Timer {
    type Config = Config;
    type State = State;

    fn describe() -> Value {
        descriptor::descriptor()
    }

    fn start(context: &Context, config: Config, _: Value) -> Result<Next<State>, PluginError> {
        let now_ms = i64::try_from(context.now).unwrap_or(i64::MAX);
        let until = until(context);
        config.reminder(now_ms, until.is_some()).map_err(PluginError::InvalidConfig)?;
        let (at_ms, kind) = match config.due(now_ms).map_err(PluginError::InvalidConfig)? {
            // Only in a trial: what a template will bring is not known yet.
            Due::Unknown => return Ok(Next::waiting(State::due(now_ms))),
            Due::Delay(at_ms) => (at_ms, "DELAY"),
            Due::Scheduled(at_ms) => (at_ms, "SCHEDULED"),
        };
        if until.is_some_and(|until| until["ended"] == true) {
            return Ok(done(State::due(at_ms)));
        }
        let note = format!("waits until {}", show_utc(at_ms));
        Ok(Next::waiting(State::due(at_ms)).with(timer(TIMER, at_ms, kind)).note(note))
    }

    fn on_event(
        context: &Context,
        config: Config,
        mut state: State,
        event: Event,
    ) -> Result<Next<State>, PluginError> {
        let now_ms = i64::try_from(context.now).unwrap_or(i64::MAX);
        match event {
            Event::TimerFired(_) => {
                state.fired_at_ms.get_or_insert(now_ms);
                match config.reminder(now_ms, true).map_err(PluginError::InvalidConfig)? {
                    Some(notice) => remind(state, &notice, now_ms),
                    None => Ok(done(state)),
                }
            }
            Event::Custom(item) if item.kind == ENDED => Ok(done(state)),
            Event::Custom(item) if item.kind == NOTIFIED => {
                let notice = config.reminder(now_ms, true).map_err(PluginError::InvalidConfig)?;
                let Some(notice) = notice else { return Ok(Next::waiting(state)) };
                let told: Value = stepwell_sdk::step::parse("event", &item.payload)?;
                match told["status"].as_str() {
                    Some("SENT") if state.series.get_or_insert_default().arrive(&notice) => Ok(done(state)),
                    Some("FAILED") if notice.required => {
                        let why = told["error"].as_str().unwrap_or("it was given up");
                        Ok(Next::failed(state, failure("reminder_failed", format!("the reminder: {why}"))))
                    }
                    _ => Ok(Next::waiting(state)),
                }
            }
            // What was withdrawn is the next reminder: the timer itself has fired.
            Event::Custom(item) if item.kind == CANCELLED && state.fired_at_ms.is_some() => Ok(done(state)),
            Event::Custom(item) if item.kind == CANCELLED => {
                Ok(Next::failed(state, failure("timer_cancelled", "an operator withdrew the timer".into())))
            }
            Event::CancelRequested(_) => Ok(Next::waiting(state)),
            other => Err(PluginError::UnsupportedEvent(format!("a timer does not expect {other:?}"))),
        }
    }
}

/// A reminder goes out, and the step waits for the next one, for its arrival, or for nothing.
fn remind(mut state: State, notice: &Notice, now_ms: i64) -> Result<Next<State>, PluginError> {
    let series = state.series.get_or_insert_default();
    let then = series.send(notice, now_ms).map_err(PluginError::InvalidConfig)?;
    let note = Effect::Notify(Notification {
        key: format!("reminder-{}", series.sent),
        channel: notice.channel.label().into(),
        recipients: notice.recipients.clone(),
        subject: notice.subject.clone(),
        message: notice.message.clone(),
        extra: json!({ "sender": notice.sender, "retry": notice.retry }).to_string(),
    });
    Ok(match then {
        Then::Again(at_ms) => Next::waiting(state).with(note).with(timer(AGAIN, at_ms, "REMINDER")),
        Then::Settle => Next::waiting(state).with(note),
        Then::Done => done(state).with(note),
    })
}

fn timer(key: &str, at_ms: i64, kind: &str) -> Effect {
    let at = u64::try_from(at_ms).unwrap_or(0);
    Effect::SetTimer(TimerSpec { key: key.into(), at, kind: kind.into() })
}

/// The step is done.
fn done(state: State) -> Next<State> {
    let fired = state.fired_at_ms.map(show_utc);
    let mut output = json!({ "triggeredAt": fired, "dueAt": show_utc(state.due_at_ms) });
    if let Some(series) = &state.series {
        output["reminders"] = series.sent.into();
    }
    Next::completed(state, &output)
}

/// The step that is waited for, as the host tells of it.
fn until(context: &Context) -> Option<Value> {
    let extra: Value = serde_json::from_str(&context.extra).ok()?;
    extra.get("until").filter(|until| until.is_object()).cloned()
}

fn failure(code: &str, message: String) -> Failure {
    Failure { code: code.into(), message, retryable: false, details: "null".into() }
}

#[cfg(test)]
mod tests;
