//! Builds a plugin: from a crate to a component that the host can load. Used by build scripts.
//!
//! The guests share one target folder, beside the one of the build that asks for them: it has a lock of its own,
//! and what they have in common is compiled once.

mod compile;
mod encode;
mod toolchain;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

pub use toolchain::Toolchain;

/// The target of every guest: bare, so that a component imports nothing but what it asks for.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Builds the crate in `crate_dir` and writes `out_dir/NAME.wasm`, where the name is the folder's.
pub fn build(crate_dir: &Path, out_dir: &Path) -> Result<PathBuf> {
    let name = folder_name(crate_dir)?;
    let toolchain = Toolchain::find()?;
    let module = compile::compile(&toolchain, crate_dir, &target_dir(crate_dir, out_dir))?;
    let component = encode::encode(&module)
        .with_context(|| format!("{} was compiled, but is no component", crate_dir.display()))?;
    let path = out_dir.join(format!("{name}.wasm"));
    std::fs::write(&path, component).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Builds every folder in `dir` that has a `Cargo.toml`, but those named in `except`; sorted by name.
/// Writes `out_dir/FILE`, a Rust source with one `static NAME: &[(&str, &[u8])]` of names and components.
pub fn build_all(dir: &Path, except: &[&str], out_dir: &Path, file: &str, static_name: &str) -> Result<()> {
    let mut crates: Vec<PathBuf> = std::fs::read_dir(dir)
        .with_context(|| format!("cannot list {}", dir.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.join("Cargo.toml").is_file())
        .collect();
    crates.sort();
    let mut source =
        format!("/// Components by the name of their folder.\nstatic {static_name}: &[(&str, &[u8])] = &[\n");
    for crate_dir in crates {
        let name = folder_name(&crate_dir)?;
        if except.contains(&name.as_str()) {
            continue;
        }
        let component = build(&crate_dir, out_dir)?;
        source.push_str(&format!("    ({name:?}, include_bytes!({:?})),\n", component.display().to_string()));
    }
    source.push_str("];\n");
    std::fs::write(out_dir.join(file), source).with_context(|| format!("cannot write {file}"))?;
    Ok(())
}

fn folder_name(crate_dir: &Path) -> Result<String> {
    let name = crate_dir.file_name().and_then(|name| name.to_str());
    name.map(str::to_owned).with_context(|| format!("{} has no name", crate_dir.display()))
}

/// `target/guests`, from a build script's `target/PROFILE/build/CRATE/out`; else of the crate's workspace.
fn target_dir(crate_dir: &Path, out_dir: &Path) -> PathBuf {
    let is_out = out_dir.file_name().is_some_and(|name| name == "out");
    let build = out_dir.ancestors().nth(2);
    let build = build.filter(|build| is_out && build.file_name().is_some_and(|name| name == "build"));
    if let Some(target) = build.and_then(|build| build.ancestors().nth(2)) {
        return target.join("guests");
    }
    match crate_dir.ancestors().filter(|dir| dir.join("Cargo.lock").is_file()).last() {
        Some(workspace) => workspace.join("target").join("guests"),
        None => out_dir.join("guests"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_are_built_beside_the_build_that_asks() {
        let script = Path::new("/w/target/release/build/stepwell-1a/out");
        assert_eq!(target_dir(Path::new("/w/plugins/p"), script), Path::new("/w/target/guests"));
        let alone = Path::new("/nowhere/at/all");
        assert_eq!(target_dir(alone, Path::new("/elsewhere")), Path::new("/elsewhere/guests"));
    }
}
