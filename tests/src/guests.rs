//! The components that the tests load: real ones, built from `tests/guests` and `examples`.

include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// The step type `HOSTILE`, which misbehaves as `config.mode` says.
pub fn hostile() -> Vec<u8> {
    guest("hostile")
}

/// The step type `MOODY`, which traps on every event.
pub fn moody_broken() -> Vec<u8> {
    guest("moody-broken")
}

/// The step type `MOODY`, mended: it completes with what the worker returned.
pub fn moody_mended() -> Vec<u8> {
    guest("moody-mended")
}

/// The mapper `moody-mapper`, which traps when its input has `"trap": true`.
pub fn moody_mapper() -> Vec<u8> {
    guest("moody-mapper")
}

/// The step type `CALLER`: sends the request of its configuration, and completes with the answer.
pub fn caller() -> Vec<u8> {
    guest("caller")
}

/// The step type `COURIER`: subscribes, publishes, sets and cancels timers as its configuration says.
pub fn courier() -> Vec<u8> {
    guest("courier")
}

/// A component that traps in `describe`.
pub fn trap_describe() -> Vec<u8> {
    guest("trap-describe")
}

/// The mapper `wasi-probe`, which tells what WASI told it.
pub fn wasi_probe() -> Vec<u8> {
    guest("wasi-probe")
}

/// The step type `GREETING`, the example for authors.
pub fn greeting() -> Vec<u8> {
    include_bytes!(concat!(env!("OUT_DIR"), "/greeting-step.wasm")).to_vec()
}

/// A component with one text in place of another of the same length.
pub fn patched(mut bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let places: Vec<usize> = bytes
        .windows(from.len())
        .enumerate()
        .filter(|(_, at)| *at == from.as_bytes())
        .map(|(at, _)| at)
        .collect();
    assert!(!places.is_empty(), "{from} is not in the component");
    for place in places {
        bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
    }
    bytes
}

fn guest(name: &str) -> Vec<u8> {
    let found = GUESTS.iter().find(|(guest, _)| *guest == name);
    found.map(|(_, bytes)| bytes.to_vec()).unwrap_or_default()
}
