//! Lines for the host's log. Outside of a host, as in unit tests, they go nowhere.

use serde_json::Value;

pub use crate::bindings::step::stepwell::plugin::log::Level;

/// Writes a line with fields (an object, or null for none).
pub fn write(level: Level, message: &str, fields: &Value) {
    let fields = if fields.is_null() { String::new() } else { fields.to_string() };
    send(level, message, &fields);
}

/// Writes a line for the operator.
pub fn info(message: &str) {
    send(Level::Info, message, "");
}

/// Writes a line about something odd.
pub fn warn(message: &str) {
    send(Level::Warn, message, "");
}

#[cfg(target_arch = "wasm32")]
fn send(level: Level, message: &str, fields: &str) {
    crate::bindings::step::stepwell::plugin::log::write(level, message, fields);
}

#[cfg(not(target_arch = "wasm32"))]
fn send(_level: Level, _message: &str, _fields: &str) {}
