//! What the contract in `wit/` generates for a host.

/// The world `step-plugin`, and the words that both worlds share.
pub(super) mod step {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "step-plugin",
        exports: { default: async },
        additional_derives: [PartialEq],
    });
}

/// The world `mapper-plugin`.
pub(super) mod mapper {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "mapper-plugin",
        exports: { default: async },
        with: {
            "stepwell:plugin/types@1.0.0": super::step::stepwell::plugin::types,
            "stepwell:plugin/log@1.0.0": super::step::stepwell::plugin::log,
        },
    });
}

/// The name of the interface that a step type exports.
pub(super) const STEP: &str = "stepwell:plugin/step@1.0.0";

/// The name of the interface that a mapper exports.
pub(super) const MAPPER: &str = "stepwell:plugin/mapper@1.0.0";

/// What `start` and `on-event` return.
pub(super) type Transitioned = (Result<types::Transition, types::PluginError>,);

/// What `transform` returns.
pub(super) type Mapped = (Result<String, types::PluginError>,);

pub(super) use mapper::MapperPluginPre;
pub(super) use mapper::exports::stepwell::plugin::mapper::MapContext;
pub(super) use step::stepwell::plugin::{log, types};
pub(super) use step::{StepPlugin, StepPluginPre};
