//! A component that passed every check and can be called.

use std::sync::Arc;

use serde_json::Value;
use wasmtime::component::ComponentExportIndex;

use super::bindings::{MapperPluginPre, StepPluginPre};
use super::host_state::HostState;
use super::meters::Meters;
use crate::domain::Digest;
use crate::domain::plugin::{Descriptor, PluginKind};

/// A component, ready to be called.
pub struct Loaded {
    /// Its digest.
    pub digest: Digest,
    /// Where it came from: `bundled`, a file's name, or `database`.
    pub origin: String,
    /// What it says of itself.
    pub descriptor: Arc<Descriptor>,
    /// The same, whole, with fields that this host does not know.
    pub document: Value,
    /// The component itself.
    pub bytes: Arc<[u8]>,
    /// Whether it can undo.
    pub compensates: bool,
    /// Whether it can carry old state over.
    pub migrates: bool,
    pub(super) pre: Arc<Pre>,
    pub(super) config: Option<jsonschema::Validator>,
    pub(super) meters: Meters,
}

/// Compiled, linked and type-checked; only the memory is missing.
pub(super) enum Pre {
    Step(StepPre),
    Mapper(MapperPre),
}

/// A step type. `describe` goes by `whole`, which checks the types of all functions; the others are called one at a
/// time, and only the types of the one that is called are checked again.
pub(super) struct StepPre {
    pub(super) whole: StepPluginPre<HostState>,
    pub(super) start: ComponentExportIndex,
    pub(super) on_event: ComponentExportIndex,
}

/// A mapper, in the same way.
pub(super) struct MapperPre {
    pub(super) whole: MapperPluginPre<HostState>,
    pub(super) transform: ComponentExportIndex,
}

impl Loaded {
    /// What it is.
    pub fn kind(&self) -> PluginKind {
        match *self.pre {
            Pre::Step(_) => PluginKind::Step,
            Pre::Mapper(_) => PluginKind::Mapper,
        }
    }

    /// Its main type name.
    pub fn name(&self) -> &str {
        self.descriptor.types.first().map_or("unnamed", String::as_str)
    }
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({})", self.name(), self.digest.short(), self.origin)
    }
}
