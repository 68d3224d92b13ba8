//! Runs cargo for one guest, shielded from the surroundings of the build that asks for it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::{TARGET, Toolchain};

/// Quick components: they are called more often than they are stored and compiled.
const PROFILE: [(&str, &str); 6] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3"),
    ("CARGO_PROFILE_RELEASE_LTO", "true"),
    ("CARGO_PROFILE_RELEASE_STRIP", "true"),
    ("CARGO_PROFILE_RELEASE_PANIC", "abort"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "0"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1"),
];

/// A quarter of what the compiler would give. A call is given fresh memory, so what it does not need costs every call.
const STACK_BYTES: usize = 256 << 10;

/// What most calls get by with; more is asked for while a call runs.
const HEAP_BYTES: usize = 256 << 10;

/// Variables that begin so are about the network and the registry, and hold for guests too.
const KEPT: [&str; 5] = ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_SOURCE_"];

/// Of the rest, those that a build sets for its own target, compiler or lints.
const DROPPED: [&str; 12] = [
    "DEBUG",
    "HOST",
    "MAKEFLAGS",
    "MFLAGS",
    "NUM_JOBS",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    "RUSTDOC",
    "RUSTFLAGS",
    "TARGET",
    "CLIPPY_ARGS",
];

/// The core module that the crate compiles to.
pub(crate) fn compile(toolchain: &Toolchain, crate_dir: &Path, target_dir: &Path) -> Result<Vec<u8>> {
    let manifest = crate_dir.join("Cargo.toml");
    let mut command = Command::new(&toolchain.cargo);
    shield(&mut command);
    command
        .current_dir(crate_dir)
        .args(["build", "--release", "--lib", "--target", TARGET])
        .arg("--manifest-path")
        .arg(&manifest)
        .arg("--target-dir")
        .arg(target_dir)
        .args(&toolchain.arguments)
        .envs(PROFILE)
        .env("CARGO_ENCODED_RUSTFLAGS", flags(crate_dir))
        .envs(toolchain.variables.iter().map(|(name, value)| (name, value)));
    let output = command.output().with_context(|| format!("cannot run {}", toolchain.cargo.display()))?;
    if !output.status.success() {
        bail!(
            "{} does not compile for {TARGET}:\n{}",
            crate_dir.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let module = target_dir.join(TARGET).join("release").join(module_file(&manifest)?);
    std::fs::read(&module)
        .with_context(|| format!("{} is missing: is `cdylib` in the crate's `crate-type`?", module.display()))
}

fn shield(command: &mut Command) {
    for (name, _) in env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        let cargo = text.starts_with("CARGO") && !KEPT.iter().any(|prefix| text.starts_with(prefix));
        let rustc = text.starts_with("RUSTC") || text.starts_with("DEP_");
        if cargo || rustc || DROPPED.contains(&text) {
            command.env_remove(&name);
        }
    }
}

/// The layout of memory; and names in panics, as nothing else tells where a guest was built: without them its digest
/// is the same everywhere.
fn flags(crate_dir: &Path) -> String {
    let mut flags = vec![
        format!("-Clink-arg=-zstack-size={STACK_BYTES}"),
        format!("-Clink-arg=--initial-heap={HEAP_BYTES}"),
    ];
    let workspace = crate_dir.ancestors().filter(|dir| dir.join("Cargo.lock").is_file()).last();
    if let Some(workspace) = workspace {
        flags.push(format!("--remap-path-prefix={}=/guest", workspace.display()));
    }
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    if let Some(home) = home {
        flags.push(format!("--remap-path-prefix={}=/cargo", home.display()));
    }
    flags.join("\x1f")
}

/// A cdylib's file is named after its package, with underscores.
fn module_file(manifest: &Path) -> Result<String> {
    let text =
        std::fs::read_to_string(manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
    let name = text
        .lines()
        .skip_while(|line| line.trim() != "[package]")
        .find_map(|line| line.trim().strip_prefix("name")?.trim_start().strip_prefix('=').map(str::trim))
        .with_context(|| format!("{} names no package", manifest.display()))?;
    Ok(format!("{}.wasm", name.trim_matches('"').replace('-', "_")))
}
