//! Between the contract's words and the engine's: JSON text becomes values here, and what is no JSON is a fault.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::bindings::{MapContext, types};
use super::fault::verdict;
use crate::domain::effect::{Effect, HeartbeatPolicy, RetryPolicy, TaskSpec};
use crate::domain::event::Event;
use crate::domain::plugin::{CallContext, Fault, Refusal};
use crate::domain::transition::{Failure, Outcome};

/// The last moment with a year of four digits, where times end.
const MILLIS_MAX: u64 = 253_402_300_799_999;

/// The context of a step's call.
pub(super) fn context(context: &CallContext) -> types::Context {
    types::Context {
        tenant: context.tenant.to_string(),
        workflow: context.workflow.clone(),
        instance: context.instance.clone(),
        step: context.step.clone(),
        attempt: context.attempt,
        seq: context.seq,
        now: u64::try_from(context.now.millis()).unwrap_or_default(),
        seed: context.seed,
        config: context.config.clone(),
        extra: text(&context.extra),
    }
}

/// The context of a mapper's call.
pub(super) fn map_context(context: &CallContext) -> MapContext {
    MapContext {
        tenant: context.tenant.to_string(),
        workflow: context.workflow.clone(),
        instance: context.instance.clone(),
        step: context.step.clone(),
        now: u64::try_from(context.now.millis()).unwrap_or_default(),
        seed: context.seed,
        config: context.config.clone(),
        extra: text(&context.extra),
    }
}

/// An event, for a plugin.
pub(super) fn event(event: &Event) -> types::Event {
    match event {
        Event::TaskCompleted { key, worker, output } => types::Event::TaskCompleted(types::TaskResult {
            key: key.clone(),
            worker: worker.clone(),
            output: text(output),
        }),
        Event::TaskFailed { key, code, message, retries_left, details } => {
            types::Event::TaskFailed(types::TaskFailure {
                key: key.clone(),
                code: code.clone(),
                message: message.clone(),
                retries_left: *retries_left,
                details: text(details),
            })
        }
        Event::TimerFired { key } => types::Event::TimerFired(key.clone()),
        Event::MessageReceived { key, name, correlation, payload, headers } => {
            types::Event::MessageReceived(types::Message {
                key: key.clone(),
                name: name.clone(),
                correlation: correlation.clone(),
                payload: text(payload),
                headers: headers.clone(),
            })
        }
        Event::HttpResponse { key, status, headers, body } => types::Event::HttpResponse(types::HttpResult {
            key: key.clone(),
            status: *status,
            headers: headers.clone(),
            body: body.clone().into_bytes(),
        }),
        Event::CancelRequested { reason } => types::Event::CancelRequested(reason.clone()),
        Event::Custom { custom_kind, payload } => types::Event::Custom(types::CustomItem {
            key: String::new(),
            kind: custom_kind.clone(),
            payload: text(payload),
        }),
    }
}

/// JSON text. Unlike `to_string` of a value it is not written through a formatter.
pub(super) fn text(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A plugin's own refusal.
pub(super) fn refusal(error: types::PluginError) -> Refusal {
    let (code, message) = match error {
        types::PluginError::InvalidConfig(message) => ("invalid_config", message),
        types::PluginError::InvalidInput(message) => ("invalid_input", message),
        types::PluginError::UnsupportedEvent(message) => ("unsupported_event", message),
        types::PluginError::Other(message) => ("other", message),
    };
    // What is stored must be storable.
    Refusal { code: code.into(), message: message.replace('\0', "\u{fffd}") }
}

/// Where a step stands.
pub(super) fn outcome(outcome: types::Outcome) -> Result<Outcome, Fault> {
    Ok(match outcome {
        types::Outcome::Waiting => Outcome::Waiting,
        types::Outcome::Completed(output) => {
            Outcome::Completed { output: json("plugin_output", || "its output".into(), &output)? }
        }
        types::Outcome::Failed(failure) => Outcome::Failed {
            failure: Failure {
                code: failure.code,
                message: failure.message,
                retryable: failure.retryable,
                details: json_or(
                    "plugin_output",
                    || "the details of its failure".into(),
                    &failure.details,
                    Value::Null,
                )?,
            },
        },
    })
}

/// What a plugin wants done.
pub(super) fn effect(effect: types::Effect) -> Result<Effect, Fault> {
    Ok(match effect {
        types::Effect::CreateTask(task) => Effect::CreateTask(task_spec(task)?),
        types::Effect::CancelTask(key) => Effect::CancelTask { key },
        types::Effect::SetTimer(timer) => {
            Effect::SetTimer { at_ms: millis(timer.at), timer_type: timer.kind, key: timer.key }
        }
        types::Effect::CancelTimer(key) => Effect::CancelTimer { key },
        types::Effect::Subscribe(interest) => Effect::Subscribe {
            extra: extra(&interest.key, &interest.extra)?,
            key: interest.key,
            name: interest.name,
            correlation: interest.correlation,
            expires_at_ms: interest.expires_at.map(millis),
        },
        types::Effect::Unsubscribe(key) => Effect::Unsubscribe { key },
        types::Effect::Publish(message) => Effect::Publish {
            payload: payload(&message.key, &message.payload)?,
            key: message.key,
            name: message.name,
            correlation: message.correlation,
            headers: message.headers,
        },
        types::Effect::HttpCall(request) => Effect::HttpCall {
            extra: extra(&request.key, &request.extra)?,
            key: request.key,
            method: request.method,
            url: request.url,
            headers: request.headers,
            body: STANDARD.encode(request.body),
            timeout_ms: request.timeout_ms,
        },
        types::Effect::Notify(note) => Effect::Notify {
            extra: extra(&note.key, &note.extra)?,
            key: note.key,
            channel: note.channel,
            recipients: note.recipients,
            subject: note.subject,
            message: note.message,
        },
        types::Effect::Custom(item) => Effect::Custom {
            payload: payload(&item.key, &item.payload)?,
            key: item.key,
            custom_kind: item.kind,
        },
    })
}

fn task_spec(task: types::TaskSpec) -> Result<TaskSpec, Fault> {
    Ok(TaskSpec {
        input: payload(&task.key, &task.input)?,
        extra: extra(&task.key, &task.extra)?,
        key: task.key,
        topic: task.topic,
        priority: task.priority,
        timeout_ms: task.timeout_ms,
        lock_ms: task.lock_ms,
        retry: RetryPolicy {
            max_attempts: task.retry.max_attempts,
            initial_ms: task.retry.initial_ms,
            factor_percent: task.retry.factor_percent,
            max_ms: task.retry.max_ms,
            jitter_percent: task.retry.jitter_percent,
        },
        heartbeat: task.heartbeat.map(|heartbeat| HeartbeatPolicy {
            interval_ms: heartbeat.interval_ms,
            max_missed: heartbeat.max_missed,
        }),
        max_lock_expiries: task.max_lock_expiries,
    })
}

/// Parses JSON text that a plugin returned; `what` names it if it is none.
pub(super) fn json(code: &'static str, what: impl Fn() -> String, text: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|error| verdict(code, format!("{} is not JSON: {error}", what())))
}

fn json_or(code: &'static str, what: impl Fn() -> String, text: &str, absent: Value) -> Result<Value, Fault> {
    if text.is_empty() { Ok(absent) } else { json(code, what, text) }
}

fn payload(key: &str, text: &str) -> Result<Value, Fault> {
    json("plugin_output", || format!("the payload of its effect \"{key}\""), text)
}

fn extra(key: &str, text: &str) -> Result<Value, Fault> {
    let absent = Value::Object(serde_json::Map::new());
    json_or("plugin_output", || format!("`extra` of its effect \"{key}\""), text, absent)
}

fn millis(at: u64) -> i64 {
    at.min(MILLIS_MAX).cast_signed()
}
