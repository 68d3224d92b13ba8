//! A deterministic WASI for toolchains that always import one: the call's time, the call's seed, the host's log.
//! No files, no variables, no network.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::io::AsyncWrite;
use wasmtime::component::Linker;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream, WasiCli, WasiCliView as _};
use wasmtime_wasi::clocks::{HostMonotonicClock, HostWallClock, WasiClocks, WasiClocksView as _};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, io as wasi_io, random};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{WasiCtx, WasiView};

use super::host_state::HostState;
use super::log::{Level, LogSink};

/// The packages that are there; `wasi:sockets` and `wasi:http` are not.
pub(super) const PACKAGES: [&str; 5] =
    ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/"];

/// The most random bytes that a guest gets at once.
const RANDOM_BYTES_MAX: u64 = 1 << 20;

/// Links what [`PACKAGES`] names.
pub(super) fn add_to_linker(linker: &mut Linker<HostState>) -> wasmtime::Result<()> {
    type T = HostState;
    wasi_io::error::add_to_linker::<T, Io>(linker, |state| state.ctx().table)?;
    wasi_io::poll::add_to_linker::<T, Io>(linker, |state| state.ctx().table)?;
    wasi_io::streams::add_to_linker::<T, Io>(linker, |state| state.ctx().table)?;
    clocks::wall_clock::add_to_linker::<T, WasiClocks>(linker, T::clocks)?;
    clocks::monotonic_clock::add_to_linker::<T, WasiClocks>(linker, T::clocks)?;
    random::random::add_to_linker::<T, WasiRandom>(linker, |state| state.ctx().ctx.random())?;
    random::insecure::add_to_linker::<T, WasiRandom>(linker, |state| state.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<T, WasiRandom>(linker, |state| state.ctx().ctx.random())?;
    filesystem::types::add_to_linker::<T, WasiFilesystem>(linker, T::filesystem)?;
    filesystem::preopens::add_to_linker::<T, WasiFilesystem>(linker, T::filesystem)?;
    cli::exit::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::environment::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::stdin::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::stdout::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::stderr::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::terminal_input::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::terminal_output::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::terminal_stdin::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::terminal_stdout::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::terminal_stderr::add_to_linker::<T, WasiCli>(linker, T::cli)
}

/// The world as one call sees it.
pub(super) fn context(now_ms: u64, seed: u64, log: &Arc<LogSink>) -> WasiCtx {
    WasiCtx::builder()
        .wall_clock(Frozen(now_ms))
        .monotonic_clock(Frozen(now_ms))
        .secure_random(StdRng::seed_from_u64(seed))
        .insecure_random(StdRng::seed_from_u64(seed.rotate_left(1)))
        .insecure_random_seed(u128::from(seed))
        .max_random_size(RANDOM_BYTES_MAX)
        .stdout(Output { log: log.clone(), level: Level::Info })
        .stderr(Output { log: log.clone(), level: Level::Warn })
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .build()
}

struct Io;

impl wasmtime::component::HasData for Io {
    type Data<'a> = &'a mut wasmtime::component::ResourceTable;
}

/// A clock that shows the call's logical time, in milliseconds since the Unix epoch.
struct Frozen(u64);

impl HostWallClock for Frozen {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl HostMonotonicClock for Frozen {
    fn resolution(&self) -> u64 {
        1_000_000
    }

    fn now(&self) -> u64 {
        self.0.saturating_mul(1_000_000)
    }
}

/// Standard output, or standard error, as lines of the log.
#[derive(Clone)]
struct Output {
    log: Arc<LogSink>,
    level: Level,
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.log.write(self.level, String::from_utf8_lossy(bytes).trim_end(), "");
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
