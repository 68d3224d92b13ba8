//! What the host and the workflow are told of a wait: its row, and its output.

use serde_json::{Map, Value, json};
use stepwell_sdk::{Context, CustomItem, Effect};

use crate::State;
use crate::config::{Plan, Source};
use crate::rules::Verdict;

/// The effect that the host keeps the row by.
pub(crate) fn effect(plan: &Plan, state: &State, verdict: &Verdict) -> Effect {
    let status = match verdict {
        Verdict::Wait => "waiting",
        Verdict::Done | Verdict::Partly => "completed",
        Verdict::Fail { timed_out: true } => "timeout",
        Verdict::Fail { timed_out: false } => "failed",
    };
    let listeners: Vec<Value> = plan
        .events
        .iter()
        .map(|event| {
            let mut listener = match &event.source {
                Source::Response => json!({ "source": "response" }),
                Source::Callback => json!({ "source": "callback" }),
                Source::Kafka { topic, correlation_field, execution_field } => json!({
                    "source": "kafka", "topic": topic, "correlationIdField": correlation_field,
                    "executionIdField": execution_field,
                }),
                Source::Message { .. } => json!({ "source": "message" }),
            };
            listener["name"] = event.name.clone().into();
            if !event.filter.is_empty() {
                listener["filter"] = Value::Object(event.filter.clone());
            }
            if let Some((secret, header)) = &event.hmac {
                listener["hmac"] = json!({ "secret": secret, "header": header });
            }
            if state.missed.contains_key(&event.name) {
                listener["closed"] = true.into();
            }
            listener
        })
        .collect();
    let payload = json!({
        "correlationId": state.correlation_id, "strategy": plan.strategy.label(),
        "requiredEvents": plan.required(), "listeners": listeners, "receivedEvents": state.received,
        "data": state.data, "status": status, "warning": warning(plan, state, verdict),
        "expiresAtMs": state.expires_at_ms,
    });
    Effect::Custom(CustomItem { key: "wait".into(), kind: "wait-state".into(), payload: payload.to_string() })
}

/// What the workflow goes on with: each event under its name, null if it has not come.
pub(crate) fn output(plan: &Plan, context: &Context, state: &State, verdict: Verdict) -> Value {
    let mut output = Map::new();
    for event in &plan.events {
        output.insert(event.name.clone(), state.data.get(&event.name).cloned().unwrap_or(Value::Null));
    }
    let partial = verdict == Verdict::Partly;
    output.insert("status".into(), if partial { "partial" } else { "completed" }.into());
    output.insert("receivedEvents".into(), json!(state.received));
    output.insert("missingEvents".into(), json!(missing(plan, state)));
    output.insert("correlationId".into(), state.correlation_id.clone().into());
    output.insert("executionId".into(), context.instance.clone().into());
    if let Some(warning) = warning(plan, state, &verdict) {
        output.insert("warning".into(), warning.into());
    }
    Value::Object(output)
}

/// Names of what has not come.
pub(crate) fn missing(plan: &Plan, state: &State) -> Vec<String> {
    let names = plan.events.iter().map(|event| event.name.clone());
    names.filter(|name| !state.received.contains(name)).collect()
}

fn warning(plan: &Plan, state: &State, verdict: &Verdict) -> Option<String> {
    (*verdict == Verdict::Partly)
        .then(|| format!("the time was over before {} had come", missing(plan, state).join(", ")))
}
