//! The effect `wait-state` becomes a row: the wait as its step sees it, in the same commit as what changed it.

use serde_json::Value;

use super::NAME_BYTES_MAX;
use super::topics::of_listener;
use crate::domain::definition::Step;
use crate::domain::plugin::Fault;
use crate::domain::wait::{
    API_RESPONSE, KAFKA_EVENT, Listener, ListenerSource, WaitNote, WaitState, WaitStatus,
};
use crate::domain::{StepExecutionId, Timestamp};
use crate::engine::draft::Draft;
use crate::engine::port::{Hint, Write};
use crate::metrics as names;

/// Named events of one wait.
const LISTENERS_MAX: usize = 50;
/// The longest topic that Kafka takes.
const TOPIC_BYTES_MAX: usize = 249;

/// Whether the payload of the effect is one that this host can keep.
pub(in crate::engine) fn check(payload: &Value) -> Result<(), Fault> {
    let fault = |message: String| Fault { code: "plugin_output", message, transient: false };
    let note =
        read(payload).map_err(|why| fault(format!("its effect `wait-state` cannot be read: {why}")))?;
    let fits = |text: &str, max: usize| !text.is_empty() && text.len() <= max && !text.contains('\0');
    let flaw = |listener: &Listener| {
        let topic = listener.topic.as_deref();
        !fits(&listener.name, 100)
            || !fits(&listener.correlation_id_field, NAME_BYTES_MAX)
            || !fits(&listener.execution_id_field, NAME_BYTES_MAX)
            || topic.is_some_and(|topic| !fits(topic, TOPIC_BYTES_MAX))
            || (listener.source == ListenerSource::Kafka && topic.is_none())
    };
    if !fits(&note.correlation_id, NAME_BYTES_MAX) || !fits(&note.strategy, 50) {
        return Err(fault(format!("the correlation id of its wait has 1 to {NAME_BYTES_MAX} bytes")));
    }
    if note.listeners.len() > LISTENERS_MAX {
        return Err(fault(format!("a wait has at most {LISTENERS_MAX} events")));
    }
    note.listeners.iter().find(|listener| flaw(listener)).map_or(Ok(()), |listener| {
        Err(fault(format!(
            "the event \"{}\" of its wait has a name, field or topic that is too long, or none",
            listener.name
        )))
    })
}

/// Whether the effect says that the wait has ended.
pub(in crate::engine) fn is_over(payload: &Value) -> bool {
    payload.get("status").and_then(Value::as_str) != Some(WaitStatus::Waiting.label())
}

fn read(payload: &Value) -> Result<WaitNote, serde_json::Error> {
    serde_json::from_value(payload.clone())
}

/// Takes the effect into the draft.
pub(in crate::engine) fn take_in(
    draft: &mut Draft,
    definition: &Step,
    execution: StepExecutionId,
    payload: &Value,
) {
    // It was checked before anything was taken in.
    let Ok(note) = read(payload) else { return };
    let step = draft.step(&definition.id);
    let (attempt, began) =
        step.map_or((1, draft.now), |step| (step.attempt, step.started_at.unwrap_or(draft.now)));
    let wait = row(draft, definition, execution, attempt, began, note);
    if wait.status == WaitStatus::Waiting {
        for topic in wait.listeners.iter().filter_map(|listener| of_listener(&wait.tenant, listener)) {
            if !draft.topics.contains(&topic) {
                draft.hints.push(Hint::Topics);
                draft.writes.push(Write::InsertTopic(topic));
            }
        }
        draft.wait_begins(execution, &wait.correlation_id);
    } else {
        measure(&wait, draft.now);
    }
    draft.writes.push(Write::UpsertWait(wait));
}

fn row(
    draft: &Draft,
    definition: &Step,
    execution: StepExecutionId,
    attempt: i32,
    began: Timestamp,
    mut note: WaitNote,
) -> WaitState {
    let api_response_data = note.data.remove(API_RESPONSE);
    let kafka_event_data = note.data.remove(KAFKA_EVENT);
    let over = note.status != WaitStatus::Waiting;
    WaitState {
        id: execution,
        tenant: draft.instance.tenant.clone(),
        execution_id: draft.instance.id,
        node_id: definition.id.clone(),
        attempt,
        correlation_id: note.correlation_id,
        aggregation_strategy: note.strategy,
        required_events: note.required_events,
        enabled_events: note.listeners.iter().map(|listener| listener.name.clone()).collect(),
        api_call_enabled: note.listeners.iter().any(|listener| listener.name == API_RESPONSE),
        kafka_event_enabled: note.listeners.iter().any(|listener| listener.source == ListenerSource::Kafka),
        api_response_data,
        kafka_event_data,
        event_data: (!note.data.is_empty()).then(|| note.data.into_iter().collect()),
        received_events: note.received_events,
        listeners: note.listeners,
        status: note.status,
        warning: note.warning,
        resumed_at: over.then_some(draft.now),
        resumed_by: over.then(|| draft.node_id.to_string()),
        version: 1,
        created_at: began,
        updated_at: draft.now,
        expires_at: Timestamp::from_millis(note.expires_at_ms),
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a wait are far below 2^52")]
fn measure(wait: &WaitState, now: Timestamp) {
    let outcome = match (wait.status, wait.warning.is_some()) {
        (WaitStatus::Completed, true) => "partial",
        (status, _) => status.label(),
    };
    let seconds = (now.millis() - wait.created_at.millis()).max(0) as f64 / 1_000.0;
    metrics::histogram!(names::WAIT_SECONDS, "outcome" => outcome).record(seconds);
    metrics::counter!(names::WAITS_ENDED, "outcome" => outcome).increment(1);
    if let [first, second, ..] = &wait.received_events[..] {
        let known = |name: &str| match name {
            API_RESPONSE => "api_response",
            KAFKA_EVENT => "kafka_event",
            _ => "other",
        };
        metrics::counter!(names::EVENT_ORDER, "first" => known(first), "then" => known(second)).increment(1);
    }
}
