//! Plugins as the engine calls them.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::domain::Digest;
use crate::domain::plugin::{Descriptor, Fault, MapCall, PluginInfo, Refusal, StepCall, Usage};
use crate::domain::transition::Transition;

/// What a plugin answered: its result or its own refusal, and what the call used.
#[derive(Clone, Debug)]
pub struct Answer<T> {
    /// The answer.
    pub result: Result<T, Refusal>,
    /// What it used.
    pub usage: Usage,
}

/// A type name, resolved to the component that serves it now.
#[derive(Clone, Debug)]
pub struct StepType {
    /// The component.
    pub digest: Digest,
    /// What it says of itself.
    pub descriptor: Arc<Descriptor>,
}

/// Calls to plugins. Each call is pure: nothing outside changes.
#[async_trait]
pub trait Plugins: Send + Sync + 'static {
    /// The component that serves a step type now.
    fn step_type(&self, name: &str) -> Option<StepType>;

    /// The component that serves a mapper's name now.
    fn mapper(&self, name: &str) -> Option<StepType>;

    /// The names of all step types, for error messages.
    fn step_type_names(&self) -> Vec<String>;

    /// What is wrong with a configuration by the component's schema: `(JSON pointer, sentence)`, none if it is valid.
    /// For a digest that is not loaded the answer is empty: the call itself will tell.
    fn check_config(&self, digest: &Digest, config: &Value) -> Vec<(String, String)>;

    /// Calls `start` or `on-event`. Limits on state, effects and grants are checked here.
    async fn call_step(&self, digest: &Digest, call: &StepCall) -> Result<Answer<Transition>, Fault>;

    /// Calls `transform`.
    async fn transform(&self, digest: &Digest, call: &MapCall) -> Result<Answer<Value>, Fault>;
}

/// The plugins as lists show them.
pub trait PluginCatalog: Send + Sync + 'static {
    /// Every loaded component, by its first type name.
    fn list(&self) -> Vec<PluginInfo>;

    /// The component that serves a type name now, or the one with this digest (or the beginning of it).
    fn info(&self, name_or_digest: &str) -> Option<PluginInfo>;
}
