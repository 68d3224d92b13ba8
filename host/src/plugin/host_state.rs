//! What the host keeps for one call: its memory's limiter, its log, and a WASI that is made only when it is asked for.

use std::sync::Arc;

use wasmtime::component::ResourceTable;
use wasmtime::{ResourceLimiter, StoreLimits};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::bindings::{log, types};
use super::log::{Author, LogSink};
use super::{limits, wasi};
use crate::domain::plugin::PluginLimits;

/// Resources that a guest may hold of the host.
const RESOURCES_MAX: usize = 1_000;

/// The state of one store, which lives for one call.
pub(super) struct HostState {
    pub(super) limiter: Limiter,
    log: Arc<LogSink>,
    now_ms: u64,
    seed: u64,
    wasi: Option<WasiCtx>,
    table: ResourceTable,
}

impl HostState {
    /// For a call at a logical time, with a seed.
    pub(super) fn new(limits: &PluginLimits, author: Author, now_ms: u64, seed: u64) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES_MAX);
        Self {
            limiter: Limiter {
                memory_bytes_max: limits.memory_bytes_max,
                peak_bytes: 0,
                inner: limits::store_limits(limits),
            },
            log: Arc::new(LogSink::new(author, limits.log_bytes_max)),
            now_ms,
            seed,
            wasi: None,
            table,
        }
    }
}

impl types::Host for HostState {}

impl log::Host for HostState {
    fn write(&mut self, level: log::Level, message: String, fields: String) {
        self.log.write(level, &message, &fields);
    }
}

impl WasiView for HostState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let ctx = self.wasi.get_or_insert_with(|| wasi::context(self.now_ms, self.seed, &self.log));
        WasiCtxView { ctx, table: &mut self.table }
    }
}

/// A guest wanted more memory than it may have.
#[derive(Debug, thiserror::Error)]
#[error("it asked for {wanted_bytes} bytes of memory; its limit is {max_bytes}")]
pub(super) struct MemoryExceeded {
    wanted_bytes: usize,
    max_bytes: usize,
}

/// Counts and bounds memory. A refusal is a trap, so that a guest cannot go on as if nothing had been.
pub(super) struct Limiter {
    memory_bytes_max: usize,
    pub(super) peak_bytes: usize,
    inner: StoreLimits,
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        // Several memories of one component share the limit: what they have is kept in sum.
        let wanted_bytes = self.peak_bytes.saturating_sub(current).saturating_add(desired);
        if wanted_bytes > self.memory_bytes_max {
            return Err(MemoryExceeded { wanted_bytes, max_bytes: self.memory_bytes_max }.into());
        }
        self.peak_bytes = wanted_bytes;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        max: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.inner.table_growing(current, desired, max)
    }

    fn instances(&self) -> usize {
        self.inner.instances()
    }

    fn tables(&self) -> usize {
        self.inner.tables()
    }

    fn memories(&self) -> usize {
        self.inner.memories()
    }
}
