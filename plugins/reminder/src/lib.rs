//! `REMINDER`: tells people, at once or later, once or again and again, until the step that is waited for has ended.
//!
//! The plugin says what is sent and when; the host keeps the timers and sends it.

mod config;
mod descriptor;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_notice::{Notice, Series, Step as Then};
use stepwell_schedule::show_utc;
use stepwell_sdk::{Context, Effect, Event, Failure, Next, Notification, PluginError, Step, TimerSpec};

use config::{Config, First};

/// The step type.
pub struct Reminder;

stepwell_sdk::heap!();
stepwell_sdk::export_step!(Reminder);

/// The key of the timer before the next reminder.
const TIMER: &str = "next";
/// An operator has withdrawn the timer.
const CANCELLED: &str = "timer-cancelled";
/// What was sent has arrived, or was given up.
const NOTIFIED: &str = "notified";
/// The step of `until` has ended.
const ENDED: &str = "step-ended";

/// What the step remembers.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// How far it has come.
    #[serde(flatten)]
    pub series: Series,
    /// When the last reminder went out, in milliseconds.
    pub last_at_ms: Option<i64>,
}

impl Step for Reminder {
    type Config = Config;
    type State = State;

    fn describe() -> Value {
        descriptor::descriptor()
    }

    fn start(context: &Context, config: Config, _: Value) -> Result<Next<State>, PluginError> {
        let now_ms = i64::try_from(context.now).unwrap_or(i64::MAX);
        let until = until(context);
        let (first, notice) = config.read(now_ms, until.is_some()).map_err(PluginError::InvalidConfig)?;
        // Only in a trial: what a template will bring is not known yet.
        let (Some(first), Some(notice)) = (first, notice) else { return Ok(Next::waiting(State::default())) };
        if until.is_some_and(|until| until["ended"] == true) {
            return Ok(over(State::default(), "until").note("nothing to remind of: the step has ended"));
        }
        match first {
            First::Now => send(State::default(), &notice, now_ms),
            First::At(at_ms) => Ok(Next::waiting(State::default()).with(timer(at_ms))),
        }
    }

    fn on_event(
        context: &Context,
        config: Config,
        mut state: State,
        event: Event,
    ) -> Result<Next<State>, PluginError> {
        let now_ms = i64::try_from(context.now).unwrap_or(i64::MAX);
        let notice = config.notice(now_ms).map_err(PluginError::InvalidConfig)?;
        let Some(notice) = notice else { return Ok(Next::waiting(state)) };
        match event {
            Event::TimerFired(_) => send(state, &notice, now_ms),
            Event::Custom(item) if item.kind == ENDED => Ok(over(state, "until")),
            Event::Custom(item) if item.kind == CANCELLED && notice.required => {
                Ok(Next::failed(state, failure("timer_cancelled", "an operator withdrew the timer".into())))
            }
            Event::Custom(item) if item.kind == CANCELLED => Ok(over(state, "cancelled")),
            Event::Custom(item) if item.kind == NOTIFIED => {
                let told: Value = stepwell_sdk::step::parse("event", &item.payload)?;
                match told["status"].as_str() {
                    Some("SENT") if state.series.arrive(&notice) => Ok(over(state, "max")),
                    Some("FAILED") if notice.required => {
                        let why = told["error"].as_str().unwrap_or("it was given up");
                        Ok(Next::failed(state, failure("reminder_failed", format!("the reminder: {why}"))))
                    }
                    _ => Ok(Next::waiting(state)),
                }
            }
            Event::CancelRequested(_) => Ok(Next::waiting(state)),
            other => Err(PluginError::UnsupportedEvent(format!("a reminder does not expect {other:?}"))),
        }
    }
}

/// A reminder goes out, and the step waits for the next one, for its arrival, or for nothing.
fn send(mut state: State, notice: &Notice, now_ms: i64) -> Result<Next<State>, PluginError> {
    let then = state.series.send(notice, now_ms).map_err(PluginError::InvalidConfig)?;
    state.last_at_ms = Some(now_ms);
    let note = Effect::Notify(Notification {
        key: format!("reminder-{}", state.series.sent),
        channel: notice.channel.label().into(),
        recipients: notice.recipients.clone(),
        subject: notice.subject.clone(),
        message: notice.message.clone(),
        extra: json!({ "sender": notice.sender, "retry": notice.retry }).to_string(),
    });
    Ok(match then {
        Then::Again(at_ms) => Next::waiting(state).with(note).with(timer(at_ms)),
        Then::Settle => Next::waiting(state).with(note),
        Then::Done => over(state, "max").with(note),
    })
}

fn timer(at_ms: i64) -> Effect {
    let at = u64::try_from(at_ms).unwrap_or(0);
    Effect::SetTimer(TimerSpec { key: TIMER.into(), at, kind: "REMINDER".into() })
}

/// The step is done; what ended it.
fn over(state: State, ended_by: &str) -> Next<State> {
    let last = state.last_at_ms.map(show_utc);
    let output = json!({ "sent": state.series.sent, "lastSentAt": last, "endedBy": ended_by });
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
