//! The real `wait_events`, compiled natively: what it decides in production it decides here.

use serde_json::Value;
use stepwell::domain::effect::Effect;
use stepwell::domain::event::Event;
use stepwell::domain::plugin::{Refusal, StepCall, StepVerb};
use stepwell::domain::transition::{Failure, Outcome, Transition};
use stepwell_sdk as sdk;
use stepwell_sdk::bindings::step::exports::stepwell::plugin::step::Guest as _;
use stepwell_sdk::step::Adapter;
use wait_events::WaitEvents;

/// Calls it as the host would.
pub fn call(call: &StepCall) -> Result<Transition, Refusal> {
    let context = sdk::Context {
        tenant: call.context.tenant.to_string(),
        workflow: call.context.workflow.clone(),
        instance: call.context.instance.clone(),
        step: call.context.step.clone(),
        attempt: call.context.attempt,
        seq: call.context.seq,
        now: u64::try_from(call.context.now.millis()).unwrap(),
        seed: call.context.seed,
        config: call.context.config.clone(),
        extra: call.context.extra.to_string(),
    };
    let answer = match &call.verb {
        StepVerb::Start { input } => Adapter::<WaitEvents>::start(context, input.to_string()),
        StepVerb::OnEvent { state, event: what } => {
            Adapter::<WaitEvents>::on_event(context, state.clone(), event(what))
        }
    };
    let answer =
        answer.map_err(|error| Refusal { code: "invalid_config".into(), message: format!("{error:?}") })?;
    Ok(Transition {
        state: canonical(&answer.state),
        state_version: answer.state_version,
        effects: answer.effects.into_iter().map(effect).collect(),
        outcome: outcome(answer.outcome),
        note: answer.note,
    })
}

fn event(event: &Event) -> sdk::Event {
    match event {
        Event::TimerFired { key } => sdk::Event::TimerFired(key.clone()),
        Event::MessageReceived { key, name, correlation, payload, headers } => {
            sdk::Event::MessageReceived(sdk::Message {
                key: key.clone(),
                name: name.clone(),
                correlation: correlation.clone(),
                payload: payload.to_string(),
                headers: headers.clone(),
            })
        }
        other => unreachable!("a wait of the simulation hears of no {other:?}"),
    }
}

fn effect(effect: sdk::Effect) -> Effect {
    match effect {
        sdk::Effect::SetTimer(timer) => Effect::SetTimer {
            key: timer.key,
            at_ms: i64::try_from(timer.at).unwrap(),
            timer_type: timer.kind,
        },
        sdk::Effect::CancelTimer(key) => Effect::CancelTimer { key },
        sdk::Effect::Custom(item) => Effect::Custom {
            key: item.key,
            custom_kind: item.kind,
            payload: serde_json::from_str(&item.payload).unwrap(),
        },
        other => unreachable!("a wait of the simulation asks for no {other:?}"),
    }
}

fn outcome(outcome: sdk::Outcome) -> Outcome {
    match outcome {
        sdk::Outcome::Waiting => Outcome::Waiting,
        sdk::Outcome::Completed(output) => {
            Outcome::Completed { output: serde_json::from_str(&output).unwrap() }
        }
        sdk::Outcome::Failed(failure) => {
            Outcome::Failed { failure: Failure::new(failure.code, failure.message) }
        }
    }
}

fn canonical(text: &str) -> String {
    serde_json::from_str::<Value>(text).unwrap().to_string()
}
