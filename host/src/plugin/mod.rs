//! Plugins: WebAssembly components in a sandbox. The only room that names wasmtime.
//!
//! A component is loaded once (`load`), then each call gets a fresh store with every limit set (`call`), and what it
//! returns is judged as data (`verdict`). Fuel, memory and size are verdicts on a plugin, because they are the same
//! everywhere; time and a full pool are not.

mod bindings;
mod call;
mod convert;
mod describe;
mod engine;
mod examples;
mod fault;
mod folder;
mod header;
mod host;
mod host_state;
mod imports;
mod lane;
mod lately;
mod limits;
mod load;
mod loaded;
mod log;
mod meters;
mod permits;
mod port;
mod registry;
mod select;
mod spent;
mod storable;
mod ticker;
mod turns;
mod verdict;
mod wasi;

pub use folder::Scan;
pub use host::{ComponentSource, PluginHost, PluginOptions, Report, bundled};
pub use loaded::Loaded;

/// The room cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

impl Error {
    fn engine(what: &str, error: &wasmtime::Error) -> Self {
        Self(format!("{what}: {error:#}"))
    }
}

/// Why a component was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LoadError {
    /// A stable code: `component_too_large`, `component_not_wasm`, `component_core_module`, `component_truncated`,
    /// `component_invalid`, `component_import`, `component_version`, `component_world`, `component_missing`,
    /// `component_unreadable`, `describe_failed`, `descriptor_invalid`, `example_failed`, `example_not_deterministic`.
    pub code: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

impl LoadError {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}
