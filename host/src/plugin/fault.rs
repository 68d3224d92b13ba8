//! What a call that went wrong means: a verdict on the plugin, or bad luck that another try may not have.

use std::time::Duration;

use wasmtime::{PoolConcurrencyLimitError, Trap};

use super::host_state::MemoryExceeded;
use crate::domain::plugin::Fault;

/// The words of wasmtime's error for too much data from a guest, which has no public type. A test holds them.
const OUTPUT_EXHAUSTED: &str = "fuel allocated for hostcalls has been exhausted";

/// A verdict: the same call fails in the same way everywhere.
pub(super) fn verdict(code: &'static str, message: impl Into<String>) -> Fault {
    Fault { code, message: message.into(), transient: false }
}

/// A component that is neither loaded nor to be had.
pub(super) fn missing(message: impl Into<String>) -> Fault {
    verdict("plugin_missing", message)
}

/// The call took too long by the clock on the wall.
pub(super) fn timed_out(verb: &str, limit: Duration) -> Fault {
    Fault {
        code: "plugin_timeout",
        message: format!(
            "`{verb}` did not answer within {} ms; the machine may be busy, it will be tried again",
            limit.as_millis()
        ),
        transient: true,
    }
}

/// The call came to no end: the host stops, or it has a defect, which its log tells.
pub(super) fn interrupted(verb: &str) -> Fault {
    let message = format!("`{verb}` was interrupted on the side of the host; it will be tried again");
    Fault { code: "plugin_interrupted", message, transient: true }
}

/// What wasmtime's error means.
pub(super) fn classify(
    verb: &str,
    error: &wasmtime::Error,
    fuel: u64,
    output_bytes_max: usize,
    wall: Duration,
) -> Fault {
    if let Some(exceeded) = error.downcast_ref::<MemoryExceeded>() {
        return verdict("plugin_memory", format!("`{verb}` was stopped: {exceeded}"));
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        let message = format!("no place in the pool for `{verb}`; it will be tried again");
        return Fault { code: "plugin_busy", message, transient: true };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => {
            verdict("plugin_fuel", format!("`{verb}` used up its {fuel} units of fuel without an answer"))
        }
        Some(Trap::Interrupt) => timed_out(verb, wall),
        Some(trap) => verdict("plugin_trap", format!("`{verb}` trapped: {}", trap_text(*trap))),
        None if error.chain().any(|cause| cause.to_string().contains(OUTPUT_EXHAUSTED)) => {
            verdict("plugin_output", format!("`{verb}` returned more than {output_bytes_max} bytes"))
        }
        None => verdict("plugin_trap", format!("`{verb}` failed: {}", error.root_cause())),
    }
}

fn trap_text(trap: Trap) -> String {
    let text = trap.to_string();
    text.strip_prefix("wasm trap: ").unwrap_or(&text).to_owned()
}
