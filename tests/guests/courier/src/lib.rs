//! `COURIER`: subscribes to a message, publishes another, sets and cancels a timer, as its configuration says.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_sdk::duration::Millis;
use stepwell_sdk::{
    Context, Effect, Event, Failure, Message, Next, PluginError, Step, Subscription, TimerSpec,
};

/// The step type.
pub struct Courier;

stepwell_sdk::export_step!(Courier);

/// The configuration.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The message that ends the step; without one it is done when the timer is, or at once.
    pub name: Option<String>,
    /// Only messages with this correlation.
    pub correlation: Option<String>,
    /// A message to send at the start.
    pub publish: Option<Outgoing>,
    /// When the step loses patience.
    pub timeout: Option<Millis>,
    /// How often the timer is set again before the step gives up.
    #[serde(default)]
    pub patience: u32,
    /// Whether the message completes the step, or cancels the timer and waits for one more.
    #[serde(default)]
    pub twice: bool,
}

/// A message to send.
#[derive(Deserialize)]
pub struct Outgoing {
    /// Its name, or topic.
    pub name: String,
    /// What tells one conversation from another.
    pub correlation: Option<String>,
    /// The body.
    #[serde(default)]
    pub payload: Value,
}

/// What the step remembers.
#[derive(Serialize, Deserialize)]
pub struct State {
    /// How often the timer fired.
    pub fired: u32,
    /// Messages so far.
    pub received: Vec<Value>,
}

impl Step for Courier {
    type Config = Config;
    type State = State;

    fn describe() -> Value {
        json!({
            "types": ["COURIER"],
            "version": "1",
            "title": "Courier",
            "category": "Tests",
            "state_version": 1,
            "effects": ["subscribe", "unsubscribe", "publish", "set-timer", "cancel-timer"],
            "config_schema": { "type": "object" },
        })
    }

    fn start(context: &Context, config: Config, _: Value) -> Result<Next<State>, PluginError> {
        let state = State { fired: 0, received: Vec::new() };
        let waits = config.name.is_some() || config.timeout.is_some();
        let mut next =
            if waits { Next::waiting(state) } else { Next::completed(state, &json!({ "sent": true })) };
        if let Some(outgoing) = config.publish {
            next = next.with(Effect::Publish(Message {
                key: "out".into(),
                name: outgoing.name,
                correlation: outgoing.correlation,
                payload: outgoing.payload.to_string(),
                headers: vec![("sent-by".into(), context.step.clone())],
            }));
        }
        if let Some(name) = config.name {
            next = next.with(Effect::Subscribe(Subscription {
                key: "in".into(),
                name,
                correlation: config.correlation,
                expires_at: None,
                extra: "{}".into(),
            }));
        }
        Ok(match config.timeout {
            Some(timeout) => next.with(timer(context, timeout)),
            None => next,
        })
    }

    fn on_event(
        context: &Context,
        config: Config,
        mut state: State,
        event: Event,
    ) -> Result<Next<State>, PluginError> {
        match event {
            Event::MessageReceived(message) => {
                state.received.push(stepwell_sdk::step::parse("message", &message.payload)?);
                if config.twice && state.received.len() < 2 {
                    let cancel = config.timeout.map(|_| Effect::CancelTimer("deadline".into()));
                    return Ok(cancel.into_iter().fold(Next::waiting(state), Next::with));
                }
                let output =
                    json!({ "name": message.name, "messages": state.received, "fired": state.fired });
                Ok(Next::completed(state, &output).with(Effect::Unsubscribe("in".into())))
            }
            Event::TimerFired(_) => {
                state.fired += 1;
                match config.timeout {
                    Some(timeout) if state.fired <= config.patience => {
                        Ok(Next::waiting(state).with(timer(context, timeout)).note("waits once more"))
                    }
                    _ if config.name.is_none() => {
                        let output = json!({ "fired": state.fired });
                        Ok(Next::completed(state, &output))
                    }
                    _ => Ok(Next::failed(state, late())),
                }
            }
            Event::CancelRequested(_) => Ok(Next::waiting(state)),
            other => Err(PluginError::UnsupportedEvent(format!("{other:?}"))),
        }
    }
}

fn timer(context: &Context, timeout: Millis) -> Effect {
    let at = context.now.saturating_add(timeout.0);
    Effect::SetTimer(TimerSpec { key: "deadline".into(), at, kind: "DELAY".into() })
}

fn late() -> Failure {
    Failure {
        code: "courier_late".into(),
        message: "no message came in time".into(),
        retryable: true,
        details: "null".into(),
    }
}
