//! `wasi-probe`: a mapper that imports WASI, as components of some toolchains always do, and tells what it got.

use serde_json::{Value, json};
use stepwell_sdk::{MapContext, Mapper, PluginError};

#[expect(missing_docs, reason = "a part of WASI")]
pub mod wasi {
    wit_bindgen::generate!({
        inline: r#"
            package test:probe;

            package wasi:clocks@0.2.0 {
                interface wall-clock {
                    record datetime { seconds: u64, nanoseconds: u32 }
                    now: func() -> datetime;
                }
                interface monotonic-clock {
                    now: func() -> u64;
                }
            }

            package wasi:random@0.2.0 {
                interface random {
                    get-random-u64: func() -> u64;
                }
            }

            package wasi:io@0.2.0 {
                interface error {
                    resource error;
                }
                interface streams {
                    use error.{error};
                    variant stream-error { last-operation-failed(error), closed }
                    resource output-stream {
                        blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>;
                    }
                }
            }

            package wasi:cli@0.2.0 {
                interface stdout {
                    use wasi:io/streams@0.2.0.{output-stream};
                    get-stdout: func() -> output-stream;
                }
                interface environment {
                    get-environment: func() -> list<tuple<string, string>>;
                    get-arguments: func() -> list<string>;
                }
            }

            world probe {
                import wasi:clocks/wall-clock@0.2.0;
                import wasi:clocks/monotonic-clock@0.2.0;
                import wasi:random/random@0.2.0;
                import wasi:cli/environment@0.2.0;
                import wasi:cli/stdout@0.2.0;
            }
        "#,
        generate_all,
    });
}

/// The mapper.
pub struct WasiProbe;

stepwell_sdk::export_mapper!(WasiProbe);

impl Mapper for WasiProbe {
    type Config = Value;

    fn describe() -> Value {
        json!({ "types": ["wasi-probe"], "version": "1" })
    }

    fn transform(_: &MapContext, _: Value, _: Value) -> Result<Value, PluginError> {
        let printed =
            wasi::wasi::cli::stdout::get_stdout().blocking_write_and_flush(b"printed by a guest\n").is_ok();
        let wall = wasi::wasi::clocks::wall_clock::now();
        Ok(json!({
            "printed": printed,
            "wall_ms": wall.seconds * 1_000 + u64::from(wall.nanoseconds) / 1_000_000,
            "monotonic_ns": wasi::wasi::clocks::monotonic_clock::now(),
            "random": wasi::wasi::random::random::get_random_u64().to_string(),
            "variables": wasi::wasi::cli::environment::get_environment(),
            "arguments": wasi::wasi::cli::environment::get_arguments(),
        }))
    }
}
