//! Finds a Rust that can compile for a bare WebAssembly target: three ways, in order.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::TARGET;

/// A cargo, and what it must be told.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The cargo to run.
    pub cargo: PathBuf,
    /// Arguments beside the usual ones.
    pub arguments: Vec<OsString>,
    /// Variables beside the usual ones.
    pub variables: Vec<(OsString, OsString)>,
}

impl Toolchain {
    /// The first of: the target is installed; `rustup` can install it; Debian's packages are there.
    pub fn find() -> Result<Self> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let usual = || Self {
            cargo: cargo.clone().into(),
            arguments: Vec::new(),
            variables: vec![("RUSTC".into(), rustc.clone())],
        };
        if target_installed(&rustc) {
            return Ok(usual());
        }
        let added = rustup_adds_target();
        if added.is_ok() && target_installed(&rustc) {
            return Ok(usual());
        }
        match debian(&rustc) {
            Ok(toolchain) => Ok(toolchain),
            Err(debian) => bail!(
                "no Rust toolchain here can compile plugins for {TARGET}. Tried, in order:\n\
                 1. the target of {}: its library is not installed\n\
                 2. `rustup target add {TARGET}`: {}\n\
                 3. Debian's packages rustc-web, cargo-web and rust-web-src: {debian}\n\
                 Any one of them will do; the first is the quickest.",
                rustc.display(),
                added.err().unwrap_or_else(|| "done, and still the library is not there".into()),
            ),
        }
    }
}

fn target_installed(rustc: &OsString) -> bool {
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    output.is_ok_and(|output| {
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        output.status.success() && path.is_dir()
    })
}

fn rustup_adds_target() -> Result<(), String> {
    let output = Command::new("rustup").args(["target", "add", TARGET]).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(last_line(&output.stderr)),
        Err(error) => Err(format!("rustup does not run: {error}")),
    }
}

/// Debian ships the library's source for this purpose, not its compiled form, and no linker of its own.
fn debian(rustc: &OsString) -> Result<Toolchain, String> {
    let (cargo, web_rustc) = (Path::new("/usr/bin/cargo"), Path::new("/usr/bin/rustc"));
    for part in [cargo, web_rustc] {
        if !part.is_file() {
            return Err(format!("{} is missing", part.display()));
        }
    }
    let sysroot = printed(web_rustc.as_os_str(), "sysroot")?;
    let source = sysroot.join("lib/rustlib/src/rust/library");
    if !source.is_dir() {
        return Err(format!("the library's source is missing at {}", source.display()));
    }
    let linker = printed(rustc, "sysroot")
        .map(|sysroot| sysroot.join("lib/rustlib").join(host_triple(rustc)).join("bin/rust-lld"))
        .ok()
        .filter(|linker| linker.is_file())
        .unwrap_or_else(|| "rust-lld".into());
    Ok(Toolchain {
        cargo: cargo.into(),
        arguments: vec!["-Z".into(), "build-std=std,panic_abort".into()],
        variables: vec![
            ("RUSTC".into(), web_rustc.into()),
            ("RUSTC_BOOTSTRAP".into(), "1".into()),
            ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER".into(), linker.into()),
        ],
    })
}

fn printed(rustc: &std::ffi::OsStr, what: &str) -> Result<PathBuf, String> {
    let output = Command::new(rustc).args(["--print", what]).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
    } else {
        Err(last_line(&output.stderr))
    }
}

fn host_triple(rustc: &OsString) -> String {
    let output = Command::new(rustc).arg("-vV").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("x86_64-unknown-linux-gnu").to_owned()
}

fn last_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("it failed without a word")
        .trim()
        .to_owned()
}
