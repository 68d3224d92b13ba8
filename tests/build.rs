//! Builds the guests of the tests, and the example.

use std::env;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = tests.join("..").canonicalize()?;
    for watched in
        ["tests/guests", "examples/greeting-step", "plugins/sdk", "wit", "Cargo.toml", "Cargo.lock"]
    {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    let out_dir = env::var_os("OUT_DIR").map(PathBuf::from).ok_or("a build script without OUT_DIR")?;
    stepwell_plugin_builder::build_all(&tests.join("guests"), &[], &out_dir, "guests.rs", "GUESTS")?;
    stepwell_plugin_builder::build(&root.join("examples/greeting-step"), &out_dir)?;
    Ok(())
}
