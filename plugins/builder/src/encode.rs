//! Turns a core module, with the contract in its custom sections, into a component.

use anyhow::{Context as _, Result};
use wit_component::ComponentEncoder;

/// The component.
pub(crate) fn encode(module: &[u8]) -> Result<Vec<u8>> {
    ComponentEncoder::default()
        .validate(true)
        .module(module)
        .context("the module has no description of its world; does the crate call `export_step!` or `export_mapper!`?")?
        .encode()
        .context("the module does not fit its world")
}
