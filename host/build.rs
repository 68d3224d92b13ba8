//! Builds the plugins that the host brings along.

use std::env;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let plugins = root.join("plugins");
    for watched in [&plugins, &root.join("wit"), &root.join("Cargo.toml"), &root.join("Cargo.lock")] {
        println!("cargo::rerun-if-changed={}", watched.display());
    }
    let out_dir = env::var_os("OUT_DIR").map(PathBuf::from).ok_or("a build script without OUT_DIR")?;
    stepwell_plugin_builder::build_all(
        &plugins,
        &["builder", "notice", "schedule", "sdk"],
        &out_dir,
        "bundled.rs",
        "BUNDLED",
    )?;
    Ok(())
}
