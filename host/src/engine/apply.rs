//! Effects become rows. One arm for each; there is no other place that knows an effect's meaning.

use std::sync::Arc;

use serde_json::{Value, json};
use stepwell_notice::{Channel, RECIPIENTS_MAX, check_recipient, check_subject};

use super::draft::Draft;
use super::events;
use super::port::write::StepKey;
use super::port::{Hint, Write};
use crate::domain::definition::Step;
use crate::domain::effect::{Effect, TaskSpec};
use crate::domain::id::fresh;
use crate::domain::json::{canonical, canonical_bytes};
use crate::domain::plugin::Fault;
use crate::domain::task::{Task, TaskStatus, millis_to_seconds};
use crate::domain::timer::{OutboxItem, Subscription, Timer};
use crate::domain::topic;
use crate::domain::turn::PRIORITY_DEFAULT;
use crate::domain::wait::WAIT_EFFECT;
use crate::domain::{StepExecutionId, SubscriptionId, TaskId, TimerId, Timestamp};
use crate::metrics as names;

/// The longest task type that an index of the database takes.
const TOPIC_BYTES_MAX: usize = 500;
/// The longest name and correlation of a message, together.
const NAME_BYTES_MAX: usize = 1_000;

/// Whether this host can do what the effect asks for.
pub(super) fn supported(effect: &Effect) -> Result<(), Fault> {
    let too_long = |what: &str, bytes_max: usize| Fault {
        code: "plugin_output",
        message: format!(
            "the {what} of the {} '{}' is longer than {bytes_max} bytes",
            effect.label(),
            effect.key()
        ),
        transient: false,
    };
    match effect {
        Effect::CreateTask(spec) if spec.topic.len() > TOPIC_BYTES_MAX => {
            Err(too_long("topic", TOPIC_BYTES_MAX))
        }
        Effect::Subscribe { name, correlation, .. } | Effect::Publish { name, correlation, .. }
            if name.len() + correlation.as_ref().map_or(0, String::len) > NAME_BYTES_MAX =>
        {
            Err(too_long("name and correlation", NAME_BYTES_MAX))
        }
        Effect::Custom { custom_kind, payload, .. } if custom_kind == WAIT_EFFECT => {
            events::check_wait(payload)
        }
        Effect::Publish { name, .. }
            if topic::of_message(name).is_some_and(|topic| !topic::is_legal(topic)) =>
        {
            Err(Fault {
                code: "plugin_output",
                message: format!(
                    "the publish '{}' names no topic of Kafka: it may have 1 to {} of a-z, A-Z, 0-9, '.', '_' and \
                     '-', and is not one of the broker's own",
                    effect.key(),
                    topic::TOPIC_BYTES_MAX
                ),
                transient: false,
            })
        }
        Effect::Notify { channel, recipients, subject, .. } => sendable(channel, recipients, subject)
            .map_err(|why| Fault {
                code: "plugin_output",
                message: format!("the notify '{}': {why}", effect.key()),
                transient: false,
            }),
        Effect::Custom { .. } => Err(Fault {
            code: "plugin_effect_unsupported",
            message: format!("this host does not carry out the effect '{}' yet", effect.label()),
            transient: false,
        }),
        _ => Ok(()),
    }
}

/// Whether a note can be sent at all. The bundled step types have told their authors before.
fn sendable(channel: &str, recipients: &[String], subject: &str) -> Result<(), String> {
    let channel = Channel::parse(channel)?;
    check_subject(subject).map_err(|why| format!("its subject {why}"))?;
    if recipients.len() > RECIPIENTS_MAX {
        return Err(format!("it has {} recipients; at most {RECIPIENTS_MAX} are told", recipients.len()));
    }
    if recipients.is_empty() && channel == Channel::Email {
        return Err("a mail has at least one recipient".into());
    }
    recipients.iter().try_for_each(|recipient| check_recipient(channel, recipient))
}

/// Whether what an effect carries is within the limit for payloads.
pub(super) fn within_limit(effect: &Effect, bytes_max: usize) -> Result<(), Fault> {
    let bytes = match effect {
        Effect::CreateTask(spec) => canonical_bytes(&spec.input),
        Effect::Publish { payload, .. } | Effect::Custom { payload, .. } => canonical_bytes(payload),
        Effect::HttpCall { url, headers, body, .. } => {
            headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
                + url.len()
                + body.len()
        }
        Effect::Notify { recipients, subject, message, .. } => {
            recipients.iter().map(String::len).sum::<usize>() + subject.len() + message.len()
        }
        _ => return Ok(()),
    };
    if bytes <= bytes_max {
        return Ok(());
    }
    Err(Fault {
        code: "plugin_output",
        message: format!(
            "the {} '{}' carries {bytes} bytes; the limit is {bytes_max}",
            effect.label(),
            effect.key()
        ),
        transient: false,
    })
}

/// Whether an effect shows secrets to nobody: their markers may stand in what a request carries, not in what workers,
/// subscribers and people read.
pub(super) fn keeps_secrets(effect: &Effect, marked: impl Fn(&str) -> bool) -> Result<(), Fault> {
    let shown = match effect {
        Effect::CreateTask(spec) => format!("{} {}", spec.topic, canonical(&spec.input)),
        Effect::Publish { name, payload, headers, .. } => {
            format!("{name} {} {headers:?}", canonical(payload))
        }
        Effect::Notify { subject, message, .. } => format!("{subject} {message}"),
        _ => return Ok(()),
    };
    if !marked(&shown) {
        return Ok(());
    }
    Err(Fault {
        code: "plugin_secret",
        message: format!(
            "the {} '{}' has a secret in it; secrets are put in as a request leaves, and nowhere else",
            effect.label(),
            effect.key()
        ),
        transient: false,
    })
}

/// Takes an effect into the draft that its step's ledger did not have before.
pub(super) fn effect(draft: &mut Draft, definition: &Arc<Step>, effect: Effect) {
    let execution = draft.step_mut(definition).id;
    let by_key = |key: String, draft: &Draft| StepKey {
        tenant: draft.instance.tenant.clone(),
        step_execution_id: execution,
        key,
        at: draft.now,
    };
    match effect {
        Effect::CreateTask(spec) => create_task(draft, definition, execution, spec),
        Effect::CancelTask { key } => draft.writes.push(Write::CancelTask(by_key(key, draft))),
        Effect::SetTimer { key, at_ms, timer_type } => {
            set_timer(draft, definition, execution, key, at_ms, timer_type);
        }
        Effect::CancelTimer { key } => draft.writes.push(Write::CancelTimer(by_key(key, draft))),
        Effect::Subscribe { key, name, correlation, expires_at_ms, .. } => {
            draft.writes.push(Write::InsertSubscription(Subscription {
                id: SubscriptionId::new(),
                tenant: draft.instance.tenant.clone(),
                instance_id: draft.instance.id,
                step_execution_id: execution,
                key,
                name,
                correlation,
                expires_at: expires_at_ms.map(Timestamp::from_millis),
                created_at: draft.now,
            }));
        }
        Effect::Unsubscribe { key } => draft.writes.push(Write::DeleteSubscription(by_key(key, draft))),
        Effect::Custom { custom_kind, payload, .. } if custom_kind == WAIT_EFFECT => {
            events::take_in(draft, definition, execution, &payload);
        }
        Effect::Notify { .. } => send(draft, execution, &traced(draft, definition, effect)),
        Effect::Publish { .. } | Effect::HttpCall { .. } | Effect::Custom { .. } => {
            send(draft, execution, &effect);
        }
    }
}

fn create_task(draft: &mut Draft, definition: &Step, execution: StepExecutionId, spec: TaskSpec) {
    let now = draft.now;
    let priority = if draft.unprioritized { PRIORITY_DEFAULT } else { spec.priority };
    let turn_at = draft.instance.turns.get_or_insert_default().next(&spec.topic, priority, now);
    let instance = &draft.instance;
    let timeout_at = spec.timeout_ms.map(|ms| now.plus_millis(bounded(ms)));
    let task = Task {
        id: TaskId::new(),
        tenant: instance.tenant.clone(),
        workflow_instance_id: instance.id,
        step_execution_id: execution,
        step_id: definition.id.clone(),
        workflow_key: instance.workflow_key.clone(),
        business_key: instance.business_key.clone(),
        key: spec.key,
        task_type: spec.topic,
        priority,
        input: spec.input,
        output: None,
        worker_id: None,
        locked_at: None,
        lock_duration_seconds: millis_to_seconds(spec.lock_ms),
        lock_expires_at: None,
        lock_token: None,
        last_heartbeat_at: None,
        heartbeat_interval_seconds: spec.heartbeat.map(|policy| millis_to_seconds(policy.interval_ms)),
        heartbeat_max_missed: spec.heartbeat.map_or(2, |policy| to_i32(policy.max_missed)),
        timeout_seconds: spec.timeout_ms.map(millis_to_seconds),
        timeout_at,
        completed_at: None,
        status: TaskStatus::Pending,
        retry_count: 0,
        max_retries: to_i32(spec.retry.max_attempts.max(1)),
        retry_initial_ms: bounded(spec.retry.initial_ms),
        retry_factor_percent: to_i32(spec.retry.factor_percent),
        retry_max_ms: bounded(spec.retry.max_ms),
        retry_jitter_percent: to_i32(spec.retry.jitter_percent.min(100)),
        lock_expiries: 0,
        max_lock_expiries: to_i32(spec.max_lock_expiries),
        error_message: None,
        error_code: None,
        error_details: None,
        checkpoint: None,
        available_at: now,
        turn_at,
        due_at: timeout_at,
        traceparent: instance.traceparent.clone(),
        created_at: now,
        updated_at: now,
        version: 0,
    };
    draft.hints.push(Hint::Tasks {
        tenant: task.tenant.clone(),
        task_type: task.task_type.clone(),
        count: 1,
    });
    draft.hints.extend(timeout_at.map(|at| Hint::Due { at }));
    metrics::counter!(names::TASKS_CREATED, "task_type" => task.task_type.clone()).increment(1);
    draft.writes.push(Write::InsertTask(task));
}

fn set_timer(
    draft: &mut Draft,
    definition: &Step,
    execution: StepExecutionId,
    key: String,
    at_ms: i64,
    timer_type: String,
) {
    let trigger_at = Timestamp::from_millis(0).plus_millis(at_ms);
    draft.hints.push(Hint::Due { at: trigger_at });
    draft.writes.push(Write::UpsertTimer(Timer {
        id: TimerId::new(),
        tenant: draft.instance.tenant.clone(),
        workflow_instance_id: draft.instance.id,
        step_execution_id: execution,
        step_id: definition.id.clone(),
        key,
        timer_type,
        trigger_at,
        triggered: false,
        triggered_at: None,
        reminder_config: reminder_config(draft, definition),
        created_at: draft.now,
    }));
}

/// A note with what its receiver and its record are told besides: the host says so, not the plugin.
fn traced(draft: &Draft, definition: &Step, mut effect: Effect) -> Effect {
    if let Effect::Notify { extra, .. } = &mut effect {
        if !extra.is_object() {
            *extra = json!({});
        }
        extra["origin"] = origin(draft, &definition.id, definition.until.as_deref());
    }
    effect
}

/// Where a note comes from.
pub(super) fn origin(draft: &Draft, step_id: &str, until: Option<&str>) -> Value {
    let instance = &draft.instance;
    json!({
        "workflow": instance.workflow_key, "businessKey": instance.business_key, "stepId": step_id,
        "timerId": draft.fired, "until": until,
    })
}

/// The reminder of a step's configuration, for whoever looks at its timers.
fn reminder_config(draft: &Draft, definition: &Step) -> Option<Value> {
    let config = draft.step(&definition.id)?.config.as_deref()?;
    // Nearly no timer has one: the text tells sooner than its parts.
    let config: Value = Some(config)
        .filter(|config| config.contains("\"reminder\""))
        .and_then(|config| serde_json::from_str(config).ok())?;
    config.get("reminder").filter(|reminder| reminder["enabled"] == true).cloned()
}

/// What leaves the host goes through the outbox, in the order of its ordering key.
pub(super) fn send(draft: &mut Draft, execution: StepExecutionId, effect: &Effect) {
    let ordering_key = match effect {
        Effect::Publish { name, correlation, .. } => {
            format!("{name}/{}", correlation.as_deref().unwrap_or(""))
        }
        // What goes outside waits for nothing but itself: a dead receiver holds up nobody.
        _ => format!("{execution}/{}", effect.key()),
    };
    let traced = with_traceparent(draft, effect);
    let payload = serde_json::to_value(traced.as_ref().unwrap_or(effect))
        .map(|value| canonical(&value))
        .unwrap_or_default();
    draft.hints.push(Hint::Due { at: draft.now });
    draft.writes.push(Write::InsertOutbox(OutboxItem {
        id: fresh(),
        tenant: draft.instance.tenant.clone(),
        instance_id: draft.instance.id,
        step_execution_id: execution,
        ordering_key,
        kind: effect.label().to_owned(),
        payload,
        attempts: 0,
        due_at: draft.now,
        last_error: None,
        created_at: draft.now,
    }));
}

/// What leaves for Kafka carries the trace of its instance, unless the plugin has given it one.
fn with_traceparent(draft: &Draft, effect: &Effect) -> Option<Effect> {
    let traceparent = draft.instance.traceparent.clone().filter(|_| effect.kafka_topic().is_some())?;
    let mut traced = effect.clone();
    if let Effect::Publish { headers, .. } = &mut traced
        && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("traceparent"))
    {
        headers.push(("traceparent".into(), traceparent));
    }
    Some(traced)
}

fn bounded(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

fn to_i32(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}
