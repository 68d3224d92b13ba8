//! A step type: the trait that authors implement, and the bridge to the contract.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bindings::step::exports::stepwell::plugin::step::Guest;
use crate::{Context, Effect, Event, Failure, Outcome, PluginError, Transition};

/// A step type.
pub trait Step {
    /// The configuration; the host has checked it against `config_schema`.
    type Config: DeserializeOwned;
    /// What the step remembers between two calls.
    type State: Serialize + DeserializeOwned;

    /// The descriptor: type names, version, schemas, grants.
    fn describe() -> Value;

    /// The version of the shape of [`Step::State`]; the descriptor's `state_version`.
    const STATE_VERSION: u32 = 1;

    /// The step begins. `input` has the outputs of the steps before it, by step id.
    fn start(context: &Context, config: Self::Config, input: Value)
    -> Result<Next<Self::State>, PluginError>;

    /// Something happened to the step.
    fn on_event(
        context: &Context,
        config: Self::Config,
        state: Self::State,
        event: Event,
    ) -> Result<Next<Self::State>, PluginError>;
}

/// The answer to a call.
#[derive(Clone, Debug)]
pub struct Next<S> {
    /// The new state.
    pub state: S,
    /// What the host shall do, in order.
    pub effects: Vec<Effect>,
    /// Where the step stands.
    pub outcome: Outcome,
    /// A line for the timeline.
    pub note: Option<String>,
}

impl<S> Next<S> {
    /// The step waits for an event.
    pub fn waiting(state: S) -> Self {
        Self { state, effects: Vec::new(), outcome: Outcome::Waiting, note: None }
    }

    /// The step is done.
    pub fn completed(state: S, output: &Value) -> Self {
        Self { outcome: Outcome::Completed(output.to_string()), ..Self::waiting(state) }
    }

    /// The step failed.
    pub fn failed(state: S, failure: Failure) -> Self {
        Self { outcome: Outcome::Failed(failure), ..Self::waiting(state) }
    }

    /// Asks for one more effect.
    #[must_use]
    pub fn with(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }

    /// Adds a line for the timeline.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.note = Some(text.into());
        self
    }
}

/// Parses JSON text that the host gave.
pub fn parse<'a, T: Deserialize<'a>>(what: &str, text: &'a str) -> Result<T, PluginError> {
    serde_json::from_str(text).map_err(|error| {
        let sentence = format!("the {what} cannot be read: {error}");
        if what == "configuration" {
            PluginError::InvalidConfig(sentence)
        } else {
            PluginError::InvalidInput(sentence)
        }
    })
}

/// The bridge from [`Step`] to the contract; named by [`crate::export_step!`].
pub struct Adapter<T>(PhantomData<T>);

impl<T: Step + 'static> Guest for Adapter<T> {
    fn describe() -> String {
        T::describe().to_string()
    }

    fn start(context: Context, input: String) -> Result<Transition, PluginError> {
        let config = parse("configuration", &context.config)?;
        transition::<T>(T::start(&context, config, parse("input", &input)?)?)
    }

    fn on_event(context: Context, state: String, event: Event) -> Result<Transition, PluginError> {
        let config = parse("configuration", &context.config)?;
        transition::<T>(T::on_event(&context, config, parse("state", &state)?, event)?)
    }
}

fn transition<T: Step>(next: Next<T::State>) -> Result<Transition, PluginError> {
    let state = serde_json::to_string(&next.state)
        .map_err(|error| PluginError::Other(format!("the state cannot be written: {error}")))?;
    Ok(Transition {
        state,
        state_version: T::STATE_VERSION,
        effects: next.effects,
        outcome: next.outcome,
        note: next.note,
    })
}
