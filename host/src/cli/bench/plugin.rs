//! `stepwell bench plugin`: a fresh instance and a call, by plugin and verb, with the plugins' own examples.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use super::super::Error;
use super::super::plugin::sandbox;
use super::super::print::Output;
use crate::domain::event::Event;
use crate::domain::plugin::{CallContext, Example, Fault, MapCall, PluginKind, StepCall, StepVerb};
use crate::domain::transition::Transition;
use crate::domain::{TenantId, Timestamp, effect::Effect};
use crate::engine::port::Plugins as _;
use crate::plugin::{Loaded, PluginHost};

/// Calls before the measurement.
const WARM_UP_CALLS: u32 = 200;
/// The moment at which all calls happen: 2026-01-01.
const NOW_MS: i64 = 1_767_225_600_000;

/// Fresh instance and call, by plugin and verb, one after the other.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The calls are those that the engine makes: limits, a new sandbox, the call, and the check of what it returned. Inputs
are the plugins' own examples; `on-event` gets the event that the first effect of `start` leads to.

Examples:
  stepwell bench plugin
  stepwell bench plugin --plugin my_step.wasm --calls 20000 --json")]
pub(in crate::cli) struct Args {
    /// A component to measure beside the bundled ones.
    #[arg(long, value_name = "FILE.wasm")]
    plugin: Option<PathBuf>,
    /// Calls of each verb with each example.
    #[arg(long, default_value_t = 5_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    calls: u32,
}

/// Runs it.
pub(super) async fn run(args: Args, output: &Output) -> Result<(), Error> {
    // A host records what calls take, and that is part of a call.
    crate::metrics::install();
    let host = sandbox()?;
    let refused = |error: crate::plugin::LoadError| Error::refused(error.code, error.message);
    let mut plugins = host.load_bundled().await.map_err(refused)?;
    if let Some(file) = &args.plugin {
        let bytes = std::fs::read(file)
            .map_err(|error| Error::usage(format!("{} cannot be read: {error}", file.display())))?;
        plugins.push(host.load(bytes, &file.display().to_string()).await.map_err(refused)?);
    }
    let mut rows: Vec<Value> = Vec::new();
    for plugin in &plugins {
        for example in &plugin.descriptor.examples {
            let faulty = |fault: Fault| {
                let message = format!("{} with its example \"{}\": {fault}", plugin.name(), example.name);
                Error::refused(fault.code, message)
            };
            rows.extend(measure(&host, plugin, example, args.calls).await.map_err(faulty)?);
        }
    }
    show(output, rows, args.calls);
    Ok(())
}

async fn measure(
    host: &PluginHost,
    plugin: &Loaded,
    example: &Example,
    calls: u32,
) -> Result<Vec<Value>, Fault> {
    let context = context(example);
    let mut rows = Vec::new();
    if plugin.kind() == PluginKind::Mapper {
        let call = MapCall { context, input: example.input.clone() };
        let mut times = Times::default();
        for _ in 0..WARM_UP_CALLS + calls {
            let begun = Instant::now();
            let answer = host.transform(&plugin.digest, &call).await?;
            times.push(begun, answer.usage.fuel);
        }
        rows.push(times.row(plugin, example, "transform"));
        return Ok(rows);
    }
    let start = StepVerb::Start { input: example.input.clone() };
    let (row, transition) = step(host, plugin, example, &context, start, calls).await?;
    rows.push(row);
    let waiting = transition.and_then(|transition| Some((event(&transition.effects)?, transition.state)));
    if let Some((event, state)) = waiting {
        let context = CallContext { seq: 1, ..context };
        let verb = StepVerb::OnEvent { state, event };
        rows.push(step(host, plugin, example, &context, verb, calls).await?.0);
    }
    Ok(rows)
}

/// Times of a step's verb, and what it answers.
async fn step(
    host: &PluginHost,
    plugin: &Loaded,
    example: &Example,
    context: &CallContext,
    verb: StepVerb,
    calls: u32,
) -> Result<(Value, Option<Transition>), Fault> {
    let name = if matches!(verb, StepVerb::Start { .. }) { "start" } else { "on-event" };
    let call = StepCall { context: context.clone(), verb };
    let mut times = Times::default();
    let mut answered = None;
    for _ in 0..WARM_UP_CALLS + calls {
        let begun = Instant::now();
        let answer = host.call_step(&plugin.digest, &call).await?;
        times.push(begun, answer.usage.fuel);
        answered = answer.result.ok();
    }
    Ok((times.row(plugin, example, name), answered))
}

/// Times of calls, in order.
#[derive(Default)]
struct Times {
    nanos: Vec<u64>,
    fuel: u64,
}

impl Times {
    fn push(&mut self, begun: Instant, fuel: u64) {
        self.nanos.push(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
        self.fuel = fuel;
    }

    #[expect(clippy::cast_precision_loss, reason = "times of calls are far below 2^52 ns")]
    fn row(self, plugin: &Loaded, example: &Example, verb: &str) -> Value {
        let mut nanos = self.nanos;
        nanos.drain(..nanos.len().min(WARM_UP_CALLS as usize));
        nanos.sort_unstable();
        let micros = |thousandths: usize| {
            let at = (nanos.len() * thousandths / 1000).min(nanos.len().saturating_sub(1));
            nanos.get(at).map_or(0.0, |nanos| *nanos as f64 / 1000.0)
        };
        let seconds = nanos.iter().sum::<u64>() as f64 / 1e9;
        json!({
            "plugin": plugin.name(), "verb": verb, "example": example.name, "origin": plugin.origin,
            "calls": nanos.len(), "medianMicros": micros(500), "p99Micros": micros(990), "fuel": self.fuel,
            "callsPerSecond": nanos.len() as f64 / seconds.max(1e-9),
        })
    }
}

/// What the first effect that leads to an event leads to.
fn event(effects: &[Effect]) -> Option<Event> {
    effects.iter().find_map(|effect| {
        let key = effect.key().to_owned();
        match effect {
            Effect::CreateTask(_) => {
                let output =
                    json!({ "result": { "ticketId": "OPS-1", "url": "https://jira.example.com/OPS-1" } });
                Some(Event::TaskCompleted { key, worker: "w-1".into(), output })
            }
            Effect::SetTimer { .. } => Some(Event::TimerFired { key }),
            Effect::Subscribe { name, correlation, .. } => Some(Event::MessageReceived {
                key,
                name: name.clone(),
                correlation: correlation.clone(),
                payload: json!({ "approved": true }),
                headers: Vec::new(),
            }),
            Effect::HttpCall { .. } => {
                Some(Event::HttpResponse { key, status: 200, headers: Vec::new(), body: "{}".into() })
            }
            _ => None,
        }
    })
}

fn context(example: &Example) -> CallContext {
    CallContext {
        tenant: TenantId::default(),
        workflow: "bench".into(),
        instance: "bench".into(),
        step: "bench".into(),
        attempt: 1,
        seq: 0,
        now: Timestamp::from_millis(NOW_MS),
        seed: 0,
        config: example.config.to_string(),
        extra: json!({}),
    }
}

fn show(output: &Output, rows: Vec<Value>, calls: u32) {
    if output.json {
        return output.value(&json!({ "calls": calls, "plugins": rows }));
    }
    output.line(format!("{calls} calls each, one after the other, each in a fresh instance:"));
    for row in rows {
        let number = |name: &str| row[name].as_f64().unwrap_or_default();
        output.line(format!(
            "  {:<24} {:<10} median {:>7.1} µs   p99 {:>7.1} µs   fuel {:>8}   {:>7.0} calls/s on one core   ({})",
            row["plugin"].as_str().unwrap_or_default(),
            row["verb"].as_str().unwrap_or_default(),
            number("medianMicros"),
            number("p99Micros"),
            row["fuel"],
            number("callsPerSecond"),
            row["example"].as_str().unwrap_or_default(),
        ));
    }
}
