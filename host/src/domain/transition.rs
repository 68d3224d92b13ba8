//! The answer of a plugin, as data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::effect::Effect;

/// All that a call changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// The step's new state, canonical JSON text.
    pub state: String,
    /// The version of the state's shape.
    pub state_version: u32,
    /// What the host shall do, in order.
    pub effects: Vec<Effect>,
    /// Where the step stands.
    pub outcome: Outcome,
    /// A line for the timeline.
    pub note: Option<String>,
}

/// Where a step stands after a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Outcome {
    /// It waits for an event.
    Waiting,
    /// It is done.
    Completed {
        /// What it produced.
        output: Value,
    },
    /// It failed.
    Failed {
        /// Why.
        failure: Failure,
    },
}

/// The member of a failure's details that marks a business error: expected, and for `onError` alone.
pub const BUSINESS_ERROR: &str = "businessError";

/// Why a step or an instance failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// A stable code.
    pub code: String,
    /// For people.
    pub message: String,
    /// Whether another attempt may help.
    #[serde(default)]
    pub retryable: bool,
    /// More.
    #[serde(default)]
    pub details: Value,
}

impl Failure {
    /// A failure with a code and a sentence.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), retryable: false, details: Value::Null }
    }
}
