//! What the contract in `wit/` generates. For plugins that need the bare functions; others use [`crate::Step`].

/// The world `step-plugin`.
pub mod step {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "step-plugin",
        pub_export_macro: true,
        default_bindings_module: "stepwell_sdk::bindings::step",
        additional_derives: [PartialEq],
    });
}

/// The world `mapper-plugin`; its shared words are those of [`step`].
pub mod mapper {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "mapper-plugin",
        pub_export_macro: true,
        default_bindings_module: "stepwell_sdk::bindings::mapper",
        with: {
            "stepwell:plugin/types@1.0.0": crate::bindings::step::stepwell::plugin::types,
            "stepwell:plugin/log@1.0.0": crate::bindings::step::stepwell::plugin::log,
        },
    });
}
