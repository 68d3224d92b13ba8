//! From bytes to a component that can be called: each check in turn, the cheap ones first, each with a plain sentence.

use std::sync::Arc;

use tokio::sync::Semaphore;
use wasmtime::component::{Component, ComponentExportIndex};

use super::bindings::{MAPPER, MapperPluginPre, STEP, StepPluginPre};
use super::call::{Caller, Request, Response, call};
use super::describe::Described;
use super::engine::Runtime;
use super::imports::Shape;
use super::loaded::{Loaded, MapperPre, Pre, StepPre};
use super::meters::Meters;
use super::{LoadError, describe, examples, header, imports};
use crate::domain::plugin::{Descriptor, PluginKind, PluginLimits};
use crate::domain::{Digest, plugin::Usage};

/// The time for `describe` and for each example. Fuel decides; this only ends what cannot be decided.
const WALL_MS_MAX: u64 = 60_000;

/// Compiles components, a few at a time, away from the threads that serve requests.
pub(super) struct Loader {
    compilers: Arc<Semaphore>,
}

/// A component that passed, and what its examples used.
pub(super) struct Passed {
    pub(super) loaded: Loaded,
    pub(super) examples: Vec<(String, Usage)>,
}

impl Loader {
    /// Leaves half of the machine to the calls.
    pub(super) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self { compilers: Arc::new(Semaphore::new((cores / 2).max(1))) }
    }

    /// Size, digest, outside, compilation, imports and version, link, descriptor, examples.
    pub(super) async fn load(
        &self,
        runtime: &Runtime,
        bytes: Arc<[u8]>,
        origin: &str,
        limits: &PluginLimits,
    ) -> Result<Passed, LoadError> {
        if bytes.len() > limits.component_bytes_max {
            let (size, max) = (bytes.len(), limits.component_bytes_max);
            let message =
                format!("the component has {size} bytes; the limit is {max} (`component_bytes_max`)");
            return Err(LoadError::new("component_too_large", message));
        }
        let digest = Digest::of(&bytes);
        header::check(&bytes)?;
        let component = self.compile(runtime, bytes.clone()).await?;
        let shape = imports::shape(&runtime.engine, &component)?;
        let pre = link(runtime, &component, &shape)?;
        let limits = PluginLimits { wall_ms_max: limits.wall_ms_max.max(WALL_MS_MAX), ..*limits };
        let mut loaded = Loaded {
            digest,
            origin: origin.to_owned(),
            descriptor: Arc::new(Descriptor::default()),
            document: serde_json::Value::Null,
            bytes,
            compensates: shape.compensates,
            migrates: shape.migrates,
            pre: Arc::new(pre),
            config: None,
            meters: Meters::default(),
        };
        let Described { descriptor, document, config } = described(runtime, &loaded, &limits).await?;
        loaded.descriptor = Arc::new(descriptor);
        loaded.document = document;
        loaded.config = config;
        let examples = examples::run(runtime, &loaded, &limits).await?;
        Ok(Passed { loaded, examples })
    }

    async fn compile(&self, runtime: &Runtime, bytes: Arc<[u8]>) -> Result<Component, LoadError> {
        let permit = self.compilers.clone().acquire_owned().await;
        let engine = runtime.engine.clone();
        let invalid = |reason: String| {
            LoadError::new("component_invalid", format!("the component is not valid: {reason}"))
        };
        let (reply, compiled) = tokio::sync::oneshot::channel();
        // A compiler takes a lot of memory. Its own thread gives it back when it ends; a pool's would keep it.
        let thread = std::thread::Builder::new().name("compiler".into()).spawn(move || {
            let compiled = Component::from_binary(&engine, &bytes);
            drop(permit);
            let _ = reply.send(compiled);
        });
        thread.map_err(|error| invalid(format!("there is no thread to compile it: {error}")))?;
        match compiled.await {
            Ok(compiled) => compiled.map_err(|error| invalid(format!("{error:#}"))),
            Err(_) => Err(invalid("the compiler gave up on it".into())),
        }
    }
}

fn link(runtime: &Runtime, component: &Component, shape: &Shape) -> Result<Pre, LoadError> {
    let misfit = |error: wasmtime::Error| {
        let message =
            format!("it does not fit the contract stepwell:plugin@{}: {error:#}", imports::CONTRACT);
        LoadError::new("component_world", message)
    };
    let pre = runtime.linker.instantiate_pre(component).map_err(misfit)?;
    let function = |interface: &str, name: &str| {
        function(component, interface, name)
            .ok_or_else(|| misfit(wasmtime::Error::msg(format!("{interface} has no `{name}`"))))
    };
    Ok(match shape.kind {
        PluginKind::Step => Pre::Step(StepPre {
            whole: StepPluginPre::new(pre).map_err(misfit)?,
            start: function(STEP, "start")?,
            on_event: function(STEP, "on-event")?,
        }),
        PluginKind::Mapper => Pre::Mapper(MapperPre {
            whole: MapperPluginPre::new(pre).map_err(misfit)?,
            transform: function(MAPPER, "transform")?,
        }),
    })
}

/// Where a component has a function of an interface.
fn function(component: &Component, interface: &str, name: &str) -> Option<ComponentExportIndex> {
    let interface = component.get_export_index(None, interface)?;
    component.get_export_index(Some(&interface), name)
}

async fn described(
    runtime: &Runtime,
    loaded: &Loaded,
    limits: &PluginLimits,
) -> Result<Described, LoadError> {
    match call(runtime, loaded, limits, Caller::host(), Request::Describe).await {
        Ok((Response::Described(text), _)) => describe::read(&text, loaded.kind()),
        Ok(_) => Err(LoadError::new("describe_failed", "`describe` gave an answer of another kind")),
        Err(fault) => Err(LoadError::new(
            "describe_failed",
            format!("it cannot describe itself: {fault} ({})", fault.code),
        )),
    }
}
