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

pub(super) use mapper::MapperPluginPre;
pub(super) use mapper::exports::stepwell::plugin::mapper::MapContext;
pub(super) use step::stepwell::plugin::{log, types};
pub(super) use step::{StepPlugin, StepPluginPre};
