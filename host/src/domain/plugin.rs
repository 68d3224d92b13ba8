//! Plugins as the engine knows them: descriptor, limits, calls and faults.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Digest, TenantId, Timestamp};

/// What a component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginKind {
    /// Exports `step`.
    Step,
    /// Exports `mapper`.
    Mapper,
}

/// What `describe` returns. Unknown fields are kept in the document, not here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Descriptor {
    /// The type names that it serves; the first is the main one.
    pub types: Vec<String>,
    /// Its version, for people.
    pub version: String,
    /// A title for the palette.
    pub title: String,
    /// Where it stands in the palette.
    pub category: String,
    /// An icon's name.
    pub icon: String,
    /// JSON Schema 2020-12 of the configuration.
    pub config_schema: Value,
    /// JSON Schema 2020-12 of the output.
    pub output_schema: Value,
    /// The version of its state's shape.
    pub state_version: u32,
    /// The effects that it may return; any other is a fault.
    pub effects: Vec<String>,
    /// Custom events that it takes.
    pub accepts: Vec<String>,
    /// What it asks to be granted.
    pub requests: Requests,
    /// JSON pointers of the parts of the input that it wants; empty means all.
    pub input_select: Vec<String>,
    /// Whether `start` may be called when a workflow is deployed, to hear what it says of a configuration. In such a
    /// call `extra.trial` is true, and what a template will bring is null.
    pub tried_at_deploy: bool,
    /// Golden calls, run when it is loaded.
    pub examples: Vec<Example>,
}

/// What a plugin asks to be granted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requests {
    /// Hosts that it wants called.
    pub hosts: Vec<String>,
    /// Secrets that it wants put in.
    pub secrets: Vec<String>,
    /// Topics that it wants to publish to or hear.
    pub topics: Vec<String>,
}

/// A golden call: with this configuration and input, `start` (or `transform`) answers this.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Example {
    /// What it shows.
    pub name: String,
    /// The configuration.
    pub config: Value,
    /// The input.
    pub input: Value,
    /// What is expected: for a step a part of its transition, for a mapper the output.
    pub expect: Value,
}

/// A plugin that is loaded, as lists show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PluginInfo {
    /// The component's digest.
    pub digest: Digest,
    /// What it is.
    pub kind: PluginKind,
    /// Where it came from: `bundled`, or the file's name, or `database`.
    pub origin: String,
    /// Its size.
    pub size_bytes: u64,
    /// What it says of itself.
    pub descriptor: Descriptor,
    /// Whether it can undo.
    pub compensates: bool,
    /// Whether it can carry old state over.
    pub migrates: bool,
    /// The type names that it serves now (a newer component may have taken some over).
    pub serving: Vec<String>,
}

/// A component as stored in `workflow_plugins`. Plugins belong to the host, not to a tenant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredPlugin {
    /// The component's digest.
    pub digest: Digest,
    /// What it is.
    pub kind: PluginKind,
    /// The type names that it serves.
    pub types: Vec<String>,
    /// What it says of itself, whole.
    pub descriptor: Value,
    /// When it was first seen.
    pub created_at: Timestamp,
}

/// What a call may use. Settable for a tenant and for a plugin; the smaller of the two counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PluginLimits {
    /// Linear memory.
    pub memory_bytes_max: usize,
    /// Fuel for a call with no input.
    pub fuel_base: u64,
    /// More fuel for each byte of input.
    pub fuel_per_input_byte: u64,
    /// Time by the clock on the wall, without what a call waits for its turn or for a core; transient, not a verdict.
    pub wall_ms_max: u64,
    /// What a step may return.
    pub step_output_bytes_max: usize,
    /// What a mapper may return.
    pub mapper_output_bytes_max: usize,
    /// A step's state.
    pub state_bytes_max: usize,
    /// Effects of one transition.
    pub effects_max: usize,
    /// Log text of one call; what exceeds it is cut.
    pub log_bytes_max: usize,
    /// The component itself.
    pub component_bytes_max: usize,
    /// Calls of one tenant at once.
    pub concurrent_calls_max: usize,
}

impl Default for PluginLimits {
    fn default() -> Self {
        Self {
            memory_bytes_max: 32 << 20,
            fuel_base: 20_000_000,
            fuel_per_input_byte: 1_000,
            wall_ms_max: 1_000,
            step_output_bytes_max: 4 << 20,
            mapper_output_bytes_max: 1 << 20,
            state_bytes_max: 256 << 10,
            effects_max: 64,
            log_bytes_max: 64 << 10,
            component_bytes_max: 32 << 20,
            concurrent_calls_max: 16,
        }
    }
}

/// Limits that an operator set, by the name of a tenant or of a type. Absent fields keep the default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitOverrides {
    /// For everyone.
    pub default: PartialPluginLimits,
    /// For one tenant.
    pub tenant: std::collections::BTreeMap<String, PartialPluginLimits>,
    /// For one plugin, by a type name that it serves or by its digest.
    pub plugin: std::collections::BTreeMap<String, PartialPluginLimits>,
}

/// A part of [`PluginLimits`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is documented in PluginLimits")]
pub struct PartialPluginLimits {
    pub memory_bytes_max: Option<usize>,
    pub fuel_base: Option<u64>,
    pub fuel_per_input_byte: Option<u64>,
    pub wall_ms_max: Option<u64>,
    pub step_output_bytes_max: Option<usize>,
    pub mapper_output_bytes_max: Option<usize>,
    pub state_bytes_max: Option<usize>,
    pub effects_max: Option<usize>,
    pub log_bytes_max: Option<usize>,
    pub component_bytes_max: Option<usize>,
    pub concurrent_calls_max: Option<usize>,
}

/// A call of `start` or `on-event`, with all that decides its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepCall {
    /// The context.
    pub context: CallContext,
    /// What is called.
    pub verb: StepVerb,
}

/// What is called, with what it is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "kebab-case")]
pub enum StepVerb {
    /// The step begins.
    Start {
        /// Outputs of the steps before it, by step id.
        input: Value,
    },
    /// Something happened.
    OnEvent {
        /// The state before, canonical JSON text.
        state: String,
        /// What happened.
        event: super::event::Event,
    },
}

/// A call of `transform`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapCall {
    /// The context; `attempt` and `seq` are not shown to a mapper.
    pub context: CallContext,
    /// The raw output.
    pub input: Value,
}

/// What a plugin may know of the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallContext {
    /// The tenant.
    pub tenant: TenantId,
    /// The workflow's key.
    pub workflow: String,
    /// The instance's id.
    pub instance: String,
    /// The step's id.
    pub step: String,
    /// The attempt.
    pub attempt: u32,
    /// The number of the call.
    pub seq: u64,
    /// The logical time.
    pub now: Timestamp,
    /// The seed.
    pub seed: u64,
    /// The configuration, canonical JSON text.
    pub config: String,
    /// Additions.
    pub extra: Value,
}

/// What a call used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Fuel burnt.
    pub fuel: u64,
    /// The highest memory use.
    pub memory_bytes: u64,
}

/// A plugin that did not answer as it must. The call changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// A stable code: `plugin_trap`, `plugin_fuel`, `plugin_memory`, `plugin_output`, `plugin_effects`,
    /// `plugin_effect_not_granted`, `plugin_state`, `plugin_timeout`, `plugin_busy`, `plugin_missing`, …
    pub code: &'static str,
    /// What happened and what to do.
    pub message: String,
    /// Whether the same call may succeed on a quieter machine: not a verdict.
    pub transient: bool,
}

/// A plugin's own refusal: an answer, not a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// `invalid_config`, `invalid_input`, `unsupported_event`, `other`.
    pub code: String,
    /// For people.
    pub message: String,
}
