//! An output mapper: the trait that authors implement, and the bridge to the contract.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::PluginError;
use crate::bindings::mapper::exports::stepwell::plugin::mapper::Guest;
pub use crate::bindings::mapper::exports::stepwell::plugin::mapper::MapContext;
use crate::step::parse;

/// An output mapper.
pub trait Mapper {
    /// The configuration; for `outputMapping`, an object from name to path.
    type Config: DeserializeOwned;

    /// The descriptor: type names, version, schemas.
    fn describe() -> Value;

    /// The mapped output, from the raw one.
    fn transform(context: &MapContext, config: Self::Config, input: Value) -> Result<Value, PluginError>;
}

/// The bridge from [`Mapper`] to the contract; named by [`crate::export_mapper!`].
pub struct Adapter<T>(PhantomData<T>);

impl<T: Mapper + 'static> Guest for Adapter<T> {
    fn describe() -> String {
        T::describe().to_string()
    }

    fn transform(context: MapContext, input: String) -> Result<String, PluginError> {
        let config = parse("configuration", &context.config)?;
        T::transform(&context, config, parse("input", &input)?).map(|output| output.to_string())
    }
}
