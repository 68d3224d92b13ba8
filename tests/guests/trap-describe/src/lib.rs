//! A component that traps when it is asked what it is.

use serde_json::Value;
use stepwell_sdk::{MapContext, Mapper, PluginError};

/// The mapper.
pub struct Speechless;

stepwell_sdk::export_mapper!(Speechless);

impl Mapper for Speechless {
    type Config = Value;

    fn describe() -> Value {
        panic!("no words")
    }

    fn transform(_: &MapContext, _: Value, input: Value) -> Result<Value, PluginError> {
        Ok(input)
    }
}
