//! What a component wants from its host and gives to it, by name: refused here with a sentence if it does not fit.

use wasmtime::Engine;
use wasmtime::component::Component;

use super::{LoadError, wasi};
use crate::domain::plugin::PluginKind;

/// The contract's package.
const PACKAGE: &str = "stepwell:plugin/";

/// The version of the contract that this host speaks.
pub(super) const CONTRACT: &str = "1.0.0";

/// What a component turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) kind: PluginKind,
    pub(super) compensates: bool,
    pub(super) migrates: bool,
}

/// Checks every import and export.
pub(super) fn shape(engine: &Engine, component: &Component) -> Result<Shape, LoadError> {
    let component = component.component_type();
    let imports: Vec<&str> = component.imports(engine).map(|(name, _)| name).collect();
    let exports: Vec<&str> = component.exports(engine).map(|(name, _)| name).collect();
    imports.iter().try_for_each(|name| version(name).and_then(|()| import(name)))?;
    exports.iter().try_for_each(|name| version(name))?;
    let exports = |interface: &str| exports.iter().any(|name| interface_of(name) == Some(interface));
    let kind = match (exports("step"), exports("mapper")) {
        (true, false) => PluginKind::Step,
        (false, true) => PluginKind::Mapper,
        (true, true) => {
            let message = "it exports both `step` and `mapper`: make two components of it";
            return Err(LoadError::new("component_world", message));
        }
        (false, false) => {
            let message = format!(
                "it exports neither {PACKAGE}step@{CONTRACT} nor {PACKAGE}mapper@{CONTRACT}: build it for \
                 the world `step-plugin` or `mapper-plugin`"
            );
            return Err(LoadError::new("component_world", message));
        }
    };
    Ok(Shape { kind, compensates: exports("compensation"), migrates: exports("migration") })
}

/// The interface of the contract that a name stands for.
fn interface_of(name: &str) -> Option<&str> {
    let interface = name.strip_prefix(PACKAGE)?;
    Some(interface.split_once('@').map_or(interface, |(interface, _)| interface))
}

fn import(name: &str) -> Result<(), LoadError> {
    let contract = matches!(interface_of(name), Some("log" | "types"));
    if contract || wasi::PACKAGES.iter().any(|package| name.starts_with(package)) {
        return Ok(());
    }
    Err(LoadError::new(
        "component_import",
        format!(
            "it imports `{name}`, which no plugin is given: a plugin is a pure function that may only write to the log \
             ({PACKAGE}log). Ask for what it needs as an effect instead, or leave the work to an external worker"
        ),
    ))
}

/// The part of a version before its first dot is the promise.
fn version(name: &str) -> Result<(), LoadError> {
    let Some((_, theirs)) = name.strip_prefix(PACKAGE).and_then(|interface| interface.split_once('@')) else {
        return Ok(());
    };
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    if major(theirs) == major(CONTRACT) {
        return Ok(());
    }
    Err(LoadError::new(
        "component_version",
        format!(
            "it was built for version {theirs} of stepwell:plugin (`{name}`), and this host speaks version {CONTRACT}: \
             build it again with the contract of this host, or run it on a host of its own version"
        ),
    ))
}
