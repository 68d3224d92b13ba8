//! Whether what a plugin returned can be stored, looked at where it lies: as it would be written, no deeper than JSON
//! may be, and without the character that a database cannot keep.

use serde_json::Value;

use crate::domain::effect::{Effect, TaskSpec};
use crate::domain::json::{Flaw, check_within};
use crate::domain::transition::{Failure, Outcome};

/// What is wrong with an effect, if anything. It is written as an object: its values lie one level deep.
pub(super) fn effect(effect: &Effect) -> Result<(), Flaw> {
    match effect {
        Effect::CreateTask(TaskSpec { key, topic, input, extra, .. }) => {
            texts([key, topic])?;
            values([input, extra], 1)
        }
        Effect::CancelTask { key } | Effect::CancelTimer { key } | Effect::Unsubscribe { key } => {
            texts([key])
        }
        Effect::SetTimer { key, timer_type, at_ms: _ } => texts([key, timer_type]),
        Effect::Subscribe { key, name, correlation, expires_at_ms: _, extra } => {
            texts([key, name].into_iter().chain(correlation))?;
            values([extra], 1)
        }
        Effect::Publish { key, name, correlation, payload, headers } => {
            texts([key, name].into_iter().chain(correlation).chain(flat(headers)))?;
            values([payload], 1)
        }
        Effect::HttpCall { key, method, url, headers, body, timeout_ms: _, extra } => {
            texts([key, method, url, body].into_iter().chain(flat(headers)))?;
            values([extra], 1)
        }
        Effect::Notify { key, channel, recipients, subject, message, extra } => {
            texts([key, channel, subject, message].into_iter().chain(recipients))?;
            values([extra], 1)
        }
        Effect::Custom { key, custom_kind, payload } => {
            texts([key, custom_kind])?;
            values([payload], 1)
        }
    }
}

/// What is wrong with an outcome, if anything.
pub(super) fn outcome(outcome: &Outcome) -> Result<(), Flaw> {
    match outcome {
        Outcome::Waiting => Ok(()),
        Outcome::Completed { output } => values([output], 1),
        Outcome::Failed { failure: Failure { code, message, retryable: _, details } } => {
            texts([code, message])?;
            values([details], 2)
        }
    }
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<(), Flaw> {
    if texts.into_iter().any(|text| text.contains('\0')) { Err(Flaw::Nul) } else { Ok(()) }
}

fn values<'a>(values: impl IntoIterator<Item = &'a Value>, depth: usize) -> Result<(), Flaw> {
    values.into_iter().try_for_each(|value| check_within(value, depth))
}

fn flat(headers: &[(String, String)]) -> impl Iterator<Item = &String> {
    headers.iter().flat_map(|(name, value)| [name, value])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::json::check;
    use serde_json::json;

    /// Values that are good, too deep by one at each level, and with the character in many places.
    fn payloads() -> Vec<Value> {
        let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!([value]));
        let mut payloads: Vec<Value> = (60..68).map(nested).collect();
        payloads.extend([
            json!({ "a": "b\0" }),
            json!({ "a\0": 1 }),
            json!({ "a": [{ "b": "c" }] }),
            json!("\0"),
        ]);
        payloads
    }

    fn effects(text: &str, value: &Value) -> Vec<Value> {
        let t = text;
        vec![
            json!({ "kind": "create-task", "key": "k", "topic": t, "input": {}, "priority": 5, "timeout_ms": null,
                "lock_ms": 1, "retry": { "max_attempts": 1, "initial_ms": 0, "factor_percent": 100, "max_ms": 0,
                "jitter_percent": 0 }, "heartbeat": null, "max_lock_expiries": 1, "extra": value }),
            json!({ "kind": "cancel-task", "key": t }),
            json!({ "kind": "set-timer", "key": "k", "at_ms": 1, "timer_type": t }),
            json!({ "kind": "subscribe", "key": "k", "name": "n", "correlation": t, "expires_at_ms": 1, "extra": value }),
            json!({ "kind": "publish", "key": "k", "name": "n", "correlation": null, "payload": value,
                "headers": [["a", "b"], ["c", t]] }),
            json!({ "kind": "http-call", "key": "k", "method": "GET", "url": t, "headers": [[t, "b"]], "body": "",
                "timeout_ms": 1, "extra": value }),
            json!({ "kind": "notify", "key": "k", "channel": "c", "recipients": ["a", t], "subject": "s",
                "message": "m", "extra": value }),
            json!({ "kind": "custom", "key": "k", "custom_kind": t, "payload": value }),
        ]
    }

    #[test]
    fn the_verdict_is_that_on_what_would_be_written() {
        for text in ["fine", "not\0fine"] {
            for value in payloads() {
                for written in effects(text, &value) {
                    let read: Effect = serde_json::from_value(written.clone()).unwrap();
                    assert_eq!(effect(&read).is_ok(), check(&json!(read)).is_ok(), "{written}");
                }
                for written in [
                    json!({ "kind": "completed", "output": value }),
                    json!({ "kind": "failed", "failure": { "code": text, "message": "m", "details": value } }),
                ] {
                    let read: Outcome = serde_json::from_value(written.clone()).unwrap();
                    assert_eq!(outcome(&read).is_ok(), check(&json!(read)).is_ok(), "{written}");
                }
            }
        }
    }
}
