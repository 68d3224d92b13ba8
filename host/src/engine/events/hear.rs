//! Whom an event is for, and whether a wait hears it: pure functions of the two.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::NAME_BYTES_MAX;
use crate::domain::InstanceId;
use crate::domain::body::{at, passes};
use crate::domain::incoming::{EventSource, IncomingCallback, IncomingEvent, Rejection};
use crate::domain::wait::{KeptEvent, Listener, ListenerSource, TopicFields, WaitState, WaitStatus};

/// What a wait may hold in all, in bytes of JSON: its step's state and output have limits of their own.
const WAIT_BYTES_MAX: usize = 160 << 10;

/// The ids of an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ids {
    /// Both, at one or several of the places where workflows look.
    Found(Vec<(InstanceId, String)>),
    /// Something is missing, or makes no sense.
    Flawed(Rejection),
}

/// Looks for both ids, at every pair of places that the tenant's workflows name.
pub(super) fn ids(payload: &Value, fields: &[TopicFields]) -> Ids {
    let mut found = Vec::new();
    let mut flaw = Rejection::Unclaimed;
    for pair in fields {
        let correlation = at(payload, &pair.correlation_field).filter(|id| !id.is_null());
        let execution = at(payload, &pair.execution_field).filter(|id| !id.is_null());
        match (correlation, execution) {
            (None, None) => {}
            (None, Some(_)) => flaw = Rejection::MissingCorrelationId,
            (Some(_), None) => flaw = Rejection::MissingExecutionId,
            (Some(correlation), Some(execution)) => match (text(correlation), text(execution)) {
                (Some(correlation), Some(execution)) => match execution.parse::<InstanceId>() {
                    Ok(execution) => {
                        let both = (execution, correlation.to_owned());
                        if !found.contains(&both) {
                            found.push(both);
                        }
                    }
                    Err(_) => flaw = Rejection::UnknownExecution,
                },
                _ => flaw = Rejection::WrongType,
            },
        }
    }
    if found.is_empty() { Ids::Flawed(flaw) } else { Ids::Found(found) }
}

fn text(id: &Value) -> Option<&str> {
    id.as_str().filter(|id| !id.is_empty() && id.len() <= NAME_BYTES_MAX && !id.contains('\0'))
}

/// An event on its way to a wait: what it says, apart from the ids. It can be kept, so it can be written down.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Letter {
    pub(super) source: String,
    pub(super) topic: String,
    pub(super) key: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) payload: Value,
    /// The named event that a callback says it is.
    pub(super) event: Option<String>,
    /// The bytes that a callback's signature is over, as text.
    pub(super) body: Option<String>,
}

impl Letter {
    pub(super) fn of_event(event: &IncomingEvent) -> Self {
        Self {
            source: event.source.label().to_owned(),
            topic: event.topic.clone(),
            key: event.key.clone(),
            headers: event.headers.clone(),
            payload: event.payload.clone(),
            event: None,
            body: None,
        }
    }

    pub(super) fn of_callback(callback: &IncomingCallback) -> Self {
        Self {
            source: EventSource::Callback.label().to_owned(),
            topic: String::new(),
            key: None,
            headers: callback.headers.clone(),
            payload: callback.payload.clone(),
            event: callback.event.clone(),
            body: Some(String::from_utf8_lossy(&callback.body).into_owned()),
        }
    }

    pub(super) fn of_kept(kept: &KeptEvent) -> Option<Self> {
        serde_json::from_str(&kept.event).ok()
    }

    fn is_callback(&self) -> bool {
        self.source == EventSource::Callback.label()
    }
}

/// What a wait makes of an event.
#[derive(Debug, PartialEq)]
pub(super) enum Hearing<'a> {
    /// These named events have come.
    Heard(Vec<&'a Listener>),
    /// They had come before.
    Repeated(usize),
    /// It is not for this wait.
    Refused(Rejection),
}

/// Whether a wait hears an event that has both of its ids: source, topic, fields, filter and size.
pub(super) fn hear<'a>(wait: &'a WaitState, letter: &Letter) -> Hearing<'a> {
    let mut listeners: Vec<&Listener> =
        wait.listeners.iter().filter(|listener| comes_by(wait, listener, letter)).collect();
    if listeners.is_empty() {
        return Hearing::Refused(Rejection::NotEnabled);
    }
    listeners.retain(|listener| passes(&letter.payload, &listener.filter));
    if listeners.is_empty() {
        return Hearing::Refused(Rejection::Filtered);
    }
    let (known, new): (Vec<&Listener>, Vec<&Listener>) =
        listeners.into_iter().partition(|listener| wait.received_events.contains(&listener.name));
    if new.is_empty() {
        return Hearing::Repeated(known.len());
    }
    if wait.status != WaitStatus::Waiting {
        return Hearing::Refused(Rejection::WaitOver);
    }
    let open: Vec<&Listener> = new.into_iter().filter(|listener| !listener.closed).collect();
    if open.is_empty() {
        return Hearing::Refused(Rejection::EventExpired);
    }
    if held(wait) + open.len() * bytes(&letter.payload) > WAIT_BYTES_MAX {
        return Hearing::Refused(Rejection::TooLarge);
    }
    Hearing::Heard(open)
}

/// Whether a named event comes by the way that this one came. Both ids must stand where the listener looks for them.
fn comes_by(wait: &WaitState, listener: &Listener, letter: &Letter) -> bool {
    if letter.is_callback() {
        return listener.source == ListenerSource::Callback
            && letter.event.as_ref().is_none_or(|event| *event == listener.name);
    }
    let id = |field: &str| at(&letter.payload, field).and_then(Value::as_str);
    let execution = wait.execution_id.to_string();
    listener.source == ListenerSource::Kafka
        && listener.topic.as_deref() == Some(&letter.topic)
        && id(&listener.correlation_id_field) == Some(&wait.correlation_id)
        && id(&listener.execution_id_field).is_some_and(|id| id.eq_ignore_ascii_case(&execution))
}

fn held(wait: &WaitState) -> usize {
    let value = |value: &Option<Value>| value.as_ref().map_or(0, bytes);
    value(&wait.api_response_data) + value(&wait.kafka_event_data) + value(&wait.event_data)
}

fn bytes(value: &Value) -> usize {
    crate::engine::port::write::json_bytes(value)
}

#[cfg(test)]
mod tests;
