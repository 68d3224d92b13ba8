//! The WebAssembly engine: its settings, what guests may import, and what lets them be interrupted.

use std::path::PathBuf;
use std::sync::Arc;

use wasmtime::component::Linker;
use wasmtime::{
    Cache, CacheConfig, Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig,
};

use super::bindings::StepPlugin;
use super::host_state::HostState;
use super::lane::Lanes;
use super::lately::Lately;
use super::ticker::{self, Running};
use super::{Error, wasi};

/// The largest memory that a guest can be given, whatever the limits say.
pub(super) const MEMORY_BYTES_CEILING: usize = 1 << 30;

/// Core instances of one component: a JavaScript or Python one has several.
const CORE_INSTANCES_PER_COMPONENT: u32 = 24;

/// The engine and what is shared by all components.
pub(super) struct Runtime {
    pub(super) engine: Engine,
    pub(super) linker: Linker<HostState>,
    pub(super) running: Arc<Running>,
    pub(super) slow: Lately,
    pub(super) lanes: Lanes,
}

impl Runtime {
    /// An engine with room for `calls_max` calls at once, that keeps compiled code in `cache_dir`.
    pub(super) fn new(cache_dir: Option<PathBuf>, calls_max: u32) -> Result<Self, Error> {
        let mut config = settings();
        if let Some(dir) = cache_dir {
            config.cache(Some(cache(dir)?));
        }
        config.allocation_strategy(pool(calls_max));
        let engine = Engine::new(&config).or_else(|error| {
            tracing::warn!(%error, "no address space for a pool of instances: each call will allocate its own");
            config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
            Engine::new(&config)
        });
        let engine =
            engine.map_err(|error| Error::engine("the WebAssembly engine does not start", &error))?;
        let linker = linker(&engine)
            .map_err(|error| Error::engine("the imports of plugins cannot be linked", &error))?;
        let running = ticker::start(&engine)?;
        Ok(Self { engine, linker, running, slow: Lately::default(), lanes: Lanes::new()? })
    }
}

/// Everything that could make two runs differ is off; threads and garbage collection are not even compiled in.
fn settings() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .concurrency_support(false)
        .consume_fuel(true)
        .epoch_interruption(true)
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .memory_init_cow(true)
        .max_wasm_stack(512 << 10)
        .async_stack_size(2 << 20)
        // Nobody is shown one, and a guest that traps for a living should pay for it alone.
        .wasm_backtrace_max_frames(None)
        // Several would share a pool of threads that never end, and keep what they took.
        .parallel_compilation(false);
    config
}

fn pool(calls_max: u32) -> InstanceAllocationStrategy {
    let mut pool = PoolingAllocationConfig::default();
    pool.total_component_instances(calls_max)
        .total_core_instances(calls_max * 8)
        .total_memories(calls_max * 2)
        .total_tables(calls_max * 4)
        .total_stacks(calls_max)
        .max_core_instances_per_component(CORE_INSTANCES_PER_COMPONENT)
        .max_memories_per_component(4)
        .max_tables_per_component(8)
        .max_memory_size(MEMORY_BYTES_CEILING)
        .max_unused_warm_slots(calls_max / 2)
        // Small memories are cleared by writing, not by giving pages back: that would interrupt every core. Where the
        // kernel can tell which pages a guest wrote to, only those are cleared.
        .linear_memory_keep_resident(1 << 20)
        .pagemap_scan(Enabled::Auto)
        .table_keep_resident(64 << 10);
    InstanceAllocationStrategy::Pooling(pool)
}

/// Compiled code on disk, keyed by the component's digest and the engine's settings; bad entries are compiled anew.
fn cache(dir: PathBuf) -> Result<Cache, Error> {
    let dir = std::path::absolute(&dir).unwrap_or(dir);
    let mut config = CacheConfig::new();
    config.with_directory(&dir);
    Cache::new(config).map_err(|error| {
        Error::engine(&format!("compiled plugins cannot be kept in {}", dir.display()), &error)
    })
}

fn linker(engine: &Engine) -> wasmtime::Result<Linker<HostState>> {
    let mut linker = Linker::new(engine);
    StepPlugin::add_to_linker::<_, wasmtime::component::HasSelf<_>>(&mut linker, |state| state)?;
    wasi::add_to_linker(&mut linker)?;
    Ok(linker)
}
