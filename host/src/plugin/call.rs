//! One call into a component: a fresh store, every limit set, the clock on the wall around it.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tracing::{Instrument as _, Span};
use wasmtime::{Engine, Store};

use super::bindings::{MapContext, Mapped, Transitioned, types};
use super::engine::Runtime;
use super::fault;
use super::host_state::HostState;
use super::lane::Work;
use super::limits;
use super::loaded::{Loaded, Pre};
use super::log::Author;
use super::permits::Permit;
use super::spent::{Counted, Spent};
use crate::domain::TenantId;
use crate::domain::plugin::{Fault, PluginLimits, Usage};
use crate::metrics as names;

/// Ticks that a call may see before it yields for the first time: more than one, as the first may come at once.
const TICKS_AT_FIRST: u64 = 2;

/// A call that took longer than this is slow.
const SLOW: Duration = Duration::from_millis(2);

/// How often a call may yield before it goes to the slow lane, even if it took no time: it waits for something.
const POLLS_AT_FIRST_MAX: u32 = 4;

/// What is called, in the words of the contract.
pub(super) enum Request {
    Describe,
    Start { context: types::Context, input: String },
    OnEvent { context: types::Context, state: String, event: types::Event },
    Transform { context: MapContext, input: String },
}

/// What it answered.
pub(super) enum Response {
    Described(String),
    Transition(Result<types::Transition, types::PluginError>),
    Mapped(Result<String, types::PluginError>),
}

impl Request {
    pub(super) fn verb(&self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::Start { .. } => "start",
            Self::OnEvent { .. } => "on-event",
            Self::Transform { .. } => "transform",
        }
    }

    /// What fuel is counted by.
    fn input_bytes(&self) -> usize {
        match self {
            Self::Describe => 0,
            Self::Start { context, input } => context.config.len() + context.extra.len() + input.len(),
            Self::OnEvent { context, state, event } => {
                context.config.len() + context.extra.len() + state.len() + event_bytes(event)
            }
            Self::Transform { context, input } => context.config.len() + context.extra.len() + input.len(),
        }
    }

    fn author(&self, plugin: &str) -> Author {
        match self {
            Self::Describe => Author::new([plugin, "", "", ""]),
            Self::Start { context, .. } | Self::OnEvent { context, .. } => {
                Author::new([plugin, &context.tenant, &context.instance, &context.step])
            }
            Self::Transform { context, .. } => {
                Author::new([plugin, &context.tenant, &context.instance, &context.step])
            }
        }
    }

    /// The logical time and the seed.
    fn moment(&self) -> (u64, u64) {
        match self {
            Self::Describe => (0, 0),
            Self::Start { context, .. } | Self::OnEvent { context, .. } => (context.now, context.seed),
            Self::Transform { context, .. } => (context.now, context.seed),
        }
    }
}

fn event_bytes(event: &types::Event) -> usize {
    match event {
        types::Event::TaskCompleted(done) => done.output.len(),
        types::Event::TaskFailed(failed) => failed.message.len() + failed.details.len(),
        types::Event::TimerFired(key) => key.len(),
        types::Event::MessageReceived(message) => message.payload.len(),
        types::Event::HttpResponse(response) => response.body.len(),
        types::Event::CancelRequested(reason) => reason.len(),
        types::Event::Custom(item) => item.payload.len(),
    }
}

/// Who asks for a call, and what they hold until it has ended.
pub(super) struct Caller {
    tenant: TenantId,
    permit: Option<Permit>,
}

impl Caller {
    /// A tenant's step.
    pub(super) fn tenant(tenant: &TenantId, permit: Permit) -> Self {
        Self { tenant: tenant.clone(), permit: Some(permit) }
    }

    /// The host itself, which tries out a component.
    pub(super) fn host() -> Self {
        Self { tenant: TenantId::default(), permit: None }
    }
}

/// Makes the call.
pub(super) async fn call(
    runtime: &Runtime,
    loaded: &Loaded,
    limits: &PluginLimits,
    caller: Caller,
    request: Request,
) -> Result<(Response, Usage), Fault> {
    let verb = request.verb();
    let plugin = loaded.name();
    let begun = Instant::now();
    let span = tracing::debug_span!("plugin", plugin, verb);
    let answer = make(runtime, loaded, limits, caller, request).instrument(span).await;
    let usage = answer.as_ref().map(|(_, usage)| usage);
    loaded.meters.record(plugin, verb, begun.elapsed(), usage.ok());
    answer.inspect_err(count)
}

/// Counts a fault.
pub(super) fn count(fault: &Fault) {
    metrics::counter!(names::PLUGIN_FAULTS, "code" => fault.code).increment(1);
}

/// Here, if it is quick; else it goes on in a lane.
async fn make(
    runtime: &Runtime,
    loaded: &Loaded,
    limits: &PluginLimits,
    Caller { tenant, permit }: Caller,
    request: Request,
) -> Result<(Response, Usage), Fault> {
    let verb = request.verb();
    let spent = Arc::new(Spent::new());
    let author = request.author(loaded.name());
    // Given back when the call has ended, also if nobody waits for it any more.
    let held = (permit, runtime.running.clone().enter());
    let (engine, pre) = (runtime.engine.clone(), loaded.pre.clone());
    let work = attempt(held, engine, pre, *limits, author, request, spent.clone());
    let mut work: Work<_> = match Span::current() {
        // Every layer around it would be copied with it.
        span if span.is_disabled() => Box::pin(work),
        span => Box::pin(work.instrument(span)),
    };
    if let Some(sample) = loaded.meters.sample(loaded.name(), verb) {
        work = Box::pin(Counted::new(work, move |computed| sample.record(computed.as_secs_f64())));
    }
    let key = (tenant, loaded.digest.clone());
    let harmful = &runtime.lanes.harmful;
    let suspect = harmful.is_bad(&key) || runtime.slow.is_bad(&key);
    if !suspect && let Poll::Ready(answer) = begin(&spent, &mut work).await {
        runtime.slow.record(&key, false);
        return answer;
    }
    let ended = runtime.lanes.finish(key.clone(), spent, work).await;
    let (answer, time) = ended.ok_or_else(|| fault::interrupted(verb))?;
    let slow = time > SLOW;
    runtime.slow.record(&key, slow);
    // A fault that may be the machine's says nothing of the plugin, neither good nor bad.
    if !answer.as_ref().is_err_and(|fault| fault.transient) {
        harmful.record(&key, slow && answer.is_err());
    }
    answer
}

/// Lets a call run here. Ticks pass also while the thread has no core: who has hardly computed goes on. The first
/// turn is not measured, as nearly all calls end in it: one that does not gets it for nothing.
async fn begin<T>(spent: &Spent, work: &mut Work<T>) -> Poll<T> {
    if let Poll::Ready(answer) = futures::poll!(work.as_mut()) {
        return Poll::Ready(answer);
    }
    spent.starts_over();
    for _ in 1..POLLS_AT_FIRST_MAX {
        spent.turn_begins();
        let polled = futures::poll!(work.as_mut());
        spent.turn_ends();
        if polled.is_ready() || spent.time() > SLOW {
            return polled;
        }
    }
    Poll::Pending
}

async fn attempt<Held>(
    _held: Held,
    engine: Engine,
    pre: Arc<Pre>,
    limits: PluginLimits,
    author: Author,
    request: Request,
    spent: Arc<Spent>,
) -> Result<(Response, Usage), Fault> {
    let verb = request.verb();
    let fuel = limits::fuel(&limits, request.input_bytes());
    let output_bytes_max = match &*pre {
        Pre::Step(_) => limits.step_output_bytes_max,
        Pre::Mapper(_) => limits.mapper_output_bytes_max,
    };
    let (now_ms, seed) = request.moment();
    let state = HostState::new(&limits, author, now_ms, seed);
    let wall = Duration::from_millis(limits.wall_ms_max);
    let failed = |error: &wasmtime::Error| fault::classify(verb, error, fuel, output_bytes_max, wall);

    let mut store = Store::new(&engine, state);
    store.limiter(|state| &mut state.limiter);
    store.set_fuel(fuel).map_err(|error| failed(&error))?;
    store.set_hostcall_fuel(output_bytes_max);
    store.set_epoch_deadline(TICKS_AT_FIRST);
    store.epoch_deadline_async_yield_and_update(1);

    let answer = {
        let invoked = pin!(invoke(&mut store, &pre, request));
        spent.within(wall, invoked).await
    };
    let response = match answer {
        Some(answer) => answer.map_err(|error| failed(&error))?,
        None => return Err(fault::timed_out(verb, wall)),
    };
    let left = store.get_fuel().unwrap_or_default();
    let memory_bytes = u64::try_from(store.data().limiter.peak_bytes).unwrap_or(u64::MAX);
    Ok((response, Usage { fuel: fuel.saturating_sub(left), memory_bytes }))
}

async fn invoke(store: &mut Store<HostState>, pre: &Pre, request: Request) -> wasmtime::Result<Response> {
    match (pre, request) {
        (Pre::Step(pre), Request::Describe) => {
            let plugin = pre.whole.instantiate_async(&mut *store).await?;
            Ok(Response::Described(plugin.stepwell_plugin_step().call_describe(store).await?))
        }
        (Pre::Step(pre), Request::Start { context, input }) => {
            let plugin = pre.whole.instance_pre().instantiate_async(&mut *store).await?;
            let start =
                plugin.get_typed_func::<(&types::Context, &str), Transitioned>(&mut *store, &pre.start)?;
            Ok(Response::Transition(start.call_async(store, (&context, &input)).await?.0))
        }
        (Pre::Step(pre), Request::OnEvent { context, state, event }) => {
            type Given<'a> = (&'a types::Context, &'a str, &'a types::Event);
            let plugin = pre.whole.instance_pre().instantiate_async(&mut *store).await?;
            let on_event = plugin.get_typed_func::<Given, Transitioned>(&mut *store, &pre.on_event)?;
            Ok(Response::Transition(on_event.call_async(store, (&context, &state, &event)).await?.0))
        }
        (Pre::Mapper(pre), Request::Describe) => {
            let plugin = pre.whole.instantiate_async(&mut *store).await?;
            Ok(Response::Described(plugin.stepwell_plugin_mapper().call_describe(store).await?))
        }
        (Pre::Mapper(pre), Request::Transform { context, input }) => {
            let plugin = pre.whole.instance_pre().instantiate_async(&mut *store).await?;
            let transform =
                plugin.get_typed_func::<(&MapContext, &str), Mapped>(&mut *store, &pre.transform)?;
            Ok(Response::Mapped(transform.call_async(store, (&context, &input)).await?.0))
        }
        (Pre::Step(_), other) => Err(wasmtime::Error::msg(format!("a step type has no `{}`", other.verb()))),
        (Pre::Mapper(_), other) => Err(wasmtime::Error::msg(format!("a mapper has no `{}`", other.verb()))),
    }
}
