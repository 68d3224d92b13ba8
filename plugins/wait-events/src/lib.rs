//! `wait_events`: calls a service if it shall, and waits for its answer and for events, in any order.
//!
//! What has come is in the step's state; whether it is enough is decided by [`rules`], a pure function. The host only
//! delivers: it checks ids, tenant, topic and filter, and keeps the row of the wait as the effect `wait-state` says.

mod config;
mod descriptor;
mod request;
pub mod rules;
mod told;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_sdk::{
    Context, Effect, Event, Failure, HttpResult, Next, PluginError, Step, Subscription, TimerSpec,
};

use config::{Plan, Source};
use rules::{Verdict, judge};

/// The step type.
pub struct WaitEvents;

stepwell_sdk::heap!();
stepwell_sdk::export_step!(WaitEvents);

/// The key of the timer for the whole wait.
const TIMEOUT: &str = "timeout";
/// Begins the keys of the timers of single events.
const TIMEOUT_OF: &str = "timeout/";
/// The key of the request.
const CALL: &str = "api_call";
/// The event that the called service's answer is.
const API_RESPONSE: &str = "api_response";
/// What all that has come may take, in bytes of JSON.
const DATA_BYTES_MAX: usize = 180 << 10;

/// What the step remembers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// What tells this wait from others.
    pub correlation_id: String,
    /// When it ends by itself, in milliseconds.
    pub expires_at_ms: i64,
    /// Names of what has come, in order.
    #[serde(default)]
    pub received: Vec<String>,
    /// What has come, by name.
    #[serde(default)]
    pub data: BTreeMap<String, Value>,
    /// What can no longer come, and why.
    #[serde(default)]
    pub missed: BTreeMap<String, String>,
}

impl Step for WaitEvents {
    type Config = Value;
    type State = State;

    fn describe() -> Value {
        descriptor::descriptor()
    }

    fn start(context: &Context, config: Value, _: Value) -> Result<Next<State>, PluginError> {
        let plan = Plan::read(&config).map_err(PluginError::InvalidConfig)?;
        let now_ms = i64::try_from(context.now).unwrap_or(i64::MAX);
        let extra: Value = serde_json::from_str(&context.extra).unwrap_or_default();
        let own = extra["correlationId"].as_str().map(str::to_owned);
        let state = State {
            correlation_id: plan
                .correlation_id
                .clone()
                .or(own)
                .unwrap_or_else(|| format!("{}:{}:{}", context.instance, context.step, context.attempt)),
            expires_at_ms: now_ms.saturating_add(to_i64(plan.timeout_ms)),
            ..State::default()
        };
        let mut effects = Vec::new();
        if let Some(call) = &plan.call {
            let ids = request::Ids { execution: &context.instance, correlation: &state.correlation_id };
            effects.push(Effect::HttpCall(call.request(&ids, extra["traceparent"].as_str())));
        }
        let verdict = judge(&plan.rules(), &state.received, &state.missed, false);
        if !matches!(verdict, Verdict::Wait) {
            // Nothing is waited for: the request goes out, and the step goes on.
            let next = settle(&plan, context, state, verdict)?;
            return Ok(with(effects, next));
        }
        effects.extend(timers(&plan, now_ms));
        effects.extend(subscriptions(&plan, &state));
        effects.push(told::effect(&plan, &state, &Verdict::Wait));
        let names: Vec<&str> = plan.events.iter().map(|event| event.name.as_str()).collect();
        let note = format!("waits for {}", names.join(", "));
        Ok(with(effects, Next::waiting(state)).note(note))
    }

    fn on_event(
        context: &Context,
        config: Value,
        state: State,
        event: Event,
    ) -> Result<Next<State>, PluginError> {
        let plan = Plan::read(&config).map_err(PluginError::InvalidConfig)?;
        let now_ms = i64::try_from(context.now).unwrap_or(i64::MAX);
        match event {
            Event::MessageReceived(message) => {
                let data = serde_json::from_str(&message.payload).unwrap_or(Value::Null);
                come(&plan, context, state, &message.key, data)
            }
            Event::HttpResponse(answer) => answered(&plan, context, state, &answer),
            Event::TimerFired(key) => {
                let mut next = match key.strip_prefix(TIMEOUT_OF) {
                    Some(name) => miss(&plan, context, state, name, &format!("did not come by {now_ms}"))?,
                    None => timed_out(&plan, context, state)?,
                };
                // What has fired is not withdrawn.
                next.effects.retain(|effect| !matches!(effect, Effect::CancelTimer(fired) if *fired == key));
                Ok(next)
            }
            Event::CancelRequested(_) => Ok(Next::waiting(state)),
            other => Err(PluginError::UnsupportedEvent(format!("a wait does not expect {other:?}"))),
        }
    }
}

/// A named event has come.
fn come(
    plan: &Plan,
    context: &Context,
    mut state: State,
    name: &str,
    data: Value,
) -> Result<Next<State>, PluginError> {
    let expected = plan.events.iter().any(|event| event.name == name);
    if !expected || state.received.iter().any(|known| known == name) || state.missed.contains_key(name) {
        return Ok(Next::waiting(state).note(format!("{name} came again, or too late: nothing changes")));
    }
    let bytes = |value: &Value| value.to_string().len();
    if state.data.values().map(bytes).sum::<usize>() + bytes(&data) > DATA_BYTES_MAX {
        return miss(plan, context, state, name, "came, and was too large to be kept");
    }
    state.received.push(name.to_owned());
    state.data.insert(name.to_owned(), data);
    go_on(plan, context, state, format!("{name} has come"))
}

/// The called service has answered, or cannot be reached.
fn answered(
    plan: &Plan,
    context: &Context,
    state: State,
    answer: &HttpResult,
) -> Result<Next<State>, PluginError> {
    let body = String::from_utf8_lossy(&answer.body);
    if !(200..300).contains(&answer.status) {
        let reason = match answer.status {
            0 => format!("the call was given up: {body}"),
            status => format!("the call was answered with {status}"),
        };
        return miss(plan, context, state, API_RESPONSE, &reason);
    }
    let counts = plan.call.as_ref().is_some_and(|call| call.synchronous);
    if !counts {
        return Ok(Next::waiting(state).note("the call was accepted"));
    }
    let data = serde_json::from_str(&body).unwrap_or_else(|_| Value::String(body.into_owned()));
    come(plan, context, state, API_RESPONSE, data)
}

/// A named event can no longer come.
fn miss(
    plan: &Plan,
    context: &Context,
    mut state: State,
    name: &str,
    reason: &str,
) -> Result<Next<State>, PluginError> {
    let expected = plan.events.iter().any(|event| event.name == name);
    if !expected || state.received.iter().any(|known| known == name) || state.missed.contains_key(name) {
        return Ok(Next::waiting(state).note(format!("{name} {reason}: nothing changes")));
    }
    state.missed.insert(name.to_owned(), reason.to_owned());
    go_on(plan, context, state, format!("{name} {reason}"))
}

fn timed_out(plan: &Plan, context: &Context, state: State) -> Result<Next<State>, PluginError> {
    let verdict = judge(&plan.rules(), &state.received, &state.missed, true);
    settle(plan, context, state, verdict)
}

fn go_on(plan: &Plan, context: &Context, state: State, note: String) -> Result<Next<State>, PluginError> {
    match judge(&plan.rules(), &state.received, &state.missed, false) {
        Verdict::Wait => {
            let told = told::effect(plan, &state, &Verdict::Wait);
            Ok(Next::waiting(state).with(told).note(note))
        }
        verdict => settle(plan, context, state, verdict),
    }
}

/// The wait is over.
fn settle(
    plan: &Plan,
    context: &Context,
    state: State,
    verdict: Verdict,
) -> Result<Next<State>, PluginError> {
    // A wait that never began has no row.
    let waited = context.seq > 0;
    let told = told::effect(plan, &state, &verdict);
    let missing = told::missing(plan, &state);
    match verdict {
        // The time is over, and judge always settles then: only an event that changes nothing leads here.
        Verdict::Wait => Ok(Next::waiting(state)),
        Verdict::Done | Verdict::Partly => {
            let output = told::output(plan, context, &state, verdict);
            let note = match verdict {
                Verdict::Partly => format!("went on without {}", missing.join(", ")),
                _ => format!("{} of {} events have come", state.received.len(), plan.events.len()),
            };
            let next = Next::completed(state, &output).note(note);
            Ok(if waited { over(plan, next.with(told)) } else { next })
        }
        Verdict::Fail { timed_out } => {
            let called = state.missed.get(API_RESPONSE).filter(|why| why.starts_with("the call"));
            let (code, why) = match called {
                Some(why) if !timed_out => ("api_call_failed", why.clone()),
                _ => ("wait_timeout", format!("{} did not come in time", missing.join(", "))),
            };
            let details = json!({
                "receivedEvents": state.received, "missingEvents": missing, "data": state.data,
                "correlationId": state.correlation_id,
            });
            let failure =
                Failure { code: code.into(), message: why, retryable: true, details: details.to_string() };
            Ok(over(plan, Next::failed(state, failure).with(told)))
        }
    }
}

/// Withdraws what is left of the wait: then the host need not look for it.
fn over(plan: &Plan, next: Next<State>) -> Next<State> {
    let keys = timed(plan).map(|(key, _)| key);
    keys.fold(next, |next, key| next.with(Effect::CancelTimer(key)))
}

/// The timers of a wait, and how long each runs. An event whose time is not shorter than the whole wait's needs none.
fn timed(plan: &Plan) -> impl Iterator<Item = (String, u64)> {
    let own = plan.events.iter().filter(|event| event.timeout_ms < plan.timeout_ms);
    std::iter::once((TIMEOUT.to_owned(), plan.timeout_ms))
        .chain(own.map(|event| (format!("{TIMEOUT_OF}{}", event.name), event.timeout_ms)))
}

fn timers(plan: &Plan, now_ms: i64) -> Vec<Effect> {
    let set = |key: String, after_ms: u64| {
        let at = u64::try_from(now_ms.saturating_add(to_i64(after_ms))).unwrap_or(0);
        Effect::SetTimer(TimerSpec { key, at, kind: "WAIT_EVENTS".into() })
    };
    timed(plan).map(|(key, after_ms)| set(key, after_ms)).collect()
}

fn subscriptions(plan: &Plan, state: &State) -> Vec<Effect> {
    let subscribe = |event: &config::Awaited| {
        let Source::Message { name, correlation } = &event.source else { return None };
        Some(Effect::Subscribe(Subscription {
            key: event.name.clone(),
            name: name.clone(),
            correlation: Some(correlation.clone().unwrap_or_else(|| state.correlation_id.clone())),
            expires_at: None,
            extra: "{}".into(),
        }))
    };
    plan.events.iter().filter_map(subscribe).collect()
}

fn with(effects: Vec<Effect>, next: Next<State>) -> Next<State> {
    // What leaves comes first, as an author would expect to read it.
    let later = next.effects;
    let mut next = Next { effects, ..next };
    next.effects.extend(later);
    next
}

fn to_i64(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
