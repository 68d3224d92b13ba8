//! `moody-mapper`: passes its input on, and traps when the input has `"trap": true`.

use serde_json::{Value, json};
use stepwell_sdk::{MapContext, Mapper, PluginError};

/// The mapper.
pub struct MoodyMapper;

stepwell_sdk::export_mapper!(MoodyMapper);

impl Mapper for MoodyMapper {
    type Config = Value;

    fn describe() -> Value {
        json!({ "types": ["moody-mapper"], "version": "1", "title": "Moody mapper" })
    }

    fn transform(_: &MapContext, _: Value, input: Value) -> Result<Value, PluginError> {
        assert!(input["trap"] != true, "as told");
        Ok(json!({ "mapped": input }))
    }
}
