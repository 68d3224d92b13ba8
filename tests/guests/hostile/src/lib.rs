//! `HOSTILE`: a step type that misbehaves as `config.mode` says. Written against the bare bindings, since the SDK's
//! own types would not let it return nonsense.

use serde::Deserialize;
use serde_json::json;
use stepwell_sdk::bindings::step::exports::stepwell::plugin::step::Guest;
use stepwell_sdk::log::Level;
use stepwell_sdk::{
    Context, Effect, Event, Message, Outcome, PluginError, RetryPolicy, TaskSpec, TimerSpec, Transition,
};

/// The step type.
pub struct Hostile;

#[derive(Deserialize)]
struct Config {
    mode: String,
    #[serde(default)]
    size: usize,
    /// It begins well, and misbehaves when its timer fires.
    #[serde(default)]
    later: bool,
}

impl Guest for Hostile {
    fn describe() -> String {
        json!({
            "types": ["HOSTILE"],
            "version": "1",
            "effects": ["publish", "set-timer"],
            "config_schema": { "type": "object", "required": ["mode"], "properties": { "mode": { "type": "string" } } },
        })
        .to_string()
    }

    fn start(context: Context, input: String) -> Result<Transition, PluginError> {
        let config = configured(&context)?;
        if config.later { Ok(begun(&context)) } else { misbehave(&config, &context, input) }
    }

    fn on_event(context: Context, _: String, event: Event) -> Result<Transition, PluginError> {
        match event {
            Event::TimerFired(_) => misbehave(&configured(&context)?, &context, "null".into()),
            other => Err(PluginError::UnsupportedEvent(format!("{other:?}"))),
        }
    }
}

fn configured(context: &Context) -> Result<Config, PluginError> {
    serde_json::from_str(&context.config).map_err(|error| PluginError::InvalidConfig(error.to_string()))
}

fn misbehave(config: &Config, context: &Context, input: String) -> Result<Transition, PluginError> {
    let size = config.size;
    match config.mode.as_str() {
        "fine" => Ok(completed(input)),
        "trap" => panic!("as told"),
        "loop" => spin(),
        "memory" => Ok(completed(hoard(size).to_string())),
        "recursion" => Ok(completed(descend(0).to_string())),
        "output" => Ok(completed(text(size))),
        "echo" => Ok(with(vec![echo(size)])),
        "not-json" => Ok(completed("not json".into())),
        "nul" => Ok(completed(r#""\u0000""#.into())),
        "deep" => Ok(completed("[".repeat(size) + &"]".repeat(size))),
        "effects" => Ok(with((0..size).map(|at| publish(&at.to_string())).collect())),
        "not-granted" => Ok(with(vec![task()])),
        "no-key" => Ok(with(vec![publish("")])),
        "log" => Ok(chatter(size)),
        "shout" => Ok(shout(size)),
        "state" => Ok(Transition { state: format!("\"{}\"", "x".repeat(size)), ..completed("1".into()) }),
        "state-not-json" => Ok(Transition { state: "{".into(), ..completed("1".into()) }),
        "burn" => Ok(completed(burn(size).to_string())),
        "context" => {
            Ok(completed(json!([context.now, context.seed, context.attempt, context.seq]).to_string()))
        }
        "refuse" => Err(PluginError::InvalidInput("as told".into())),
        other => Err(PluginError::InvalidConfig(format!("there is no mode {other}"))),
    }
}

/// Waits for a timer that is due at once.
fn begun(context: &Context) -> Transition {
    let timer = TimerSpec { key: "later".into(), at: context.now, kind: "DELAY".into() };
    Transition { state: r#"{"kept":1}"#.into(), ..with(vec![Effect::SetTimer(timer)]) }
}

fn completed(output: String) -> Transition {
    Transition {
        state: "{}".into(),
        state_version: 1,
        effects: Vec::new(),
        outcome: Outcome::Completed(output),
        note: None,
    }
}

fn with(effects: Vec<Effect>) -> Transition {
    Transition { effects, outcome: Outcome::Waiting, ..completed(String::new()) }
}

fn publish(key: &str) -> Effect {
    Effect::Publish(Message {
        key: key.into(),
        name: "n".into(),
        correlation: None,
        payload: "null".into(),
        headers: Vec::new(),
    })
}

fn task() -> Effect {
    Effect::CreateTask(TaskSpec {
        key: "task".into(),
        topic: "t".into(),
        input: "{}".into(),
        priority: 5,
        timeout_ms: None,
        lock_ms: 1_000,
        retry: RetryPolicy {
            max_attempts: 1,
            initial_ms: 0,
            factor_percent: 100,
            max_ms: 0,
            jitter_percent: 0,
        },
        heartbeat: None,
        max_lock_expiries: 1,
        extra: "{}".into(),
    })
}

fn spin() -> ! {
    let mut turns = 0u64;
    loop {
        turns = std::hint::black_box(turns).wrapping_add(1);
    }
}

fn burn(turns: usize) -> usize {
    (0..turns).fold(0, |sum, turn| std::hint::black_box(sum ^ turn))
}

/// Takes memory, a mebibyte at a time. It writes to little of it, since each byte written costs fuel.
fn hoard(mebibytes: usize) -> usize {
    let hoard: Vec<Vec<u8>> = (0..mebibytes)
        .map(|at| {
            let mut part = Vec::with_capacity(1 << 20);
            part.push(at as u8 | 1);
            part
        })
        .collect();
    std::hint::black_box(&hoard).iter().map(|part| usize::from(part[0])).sum()
}

/// JSON text of so many bytes, made with few copies.
fn text(size: usize) -> String {
    let mut bytes = vec![b'x'; size.max(2)];
    bytes[0] = b'"';
    if let Some(last) = bytes.last_mut() {
        *last = b'"';
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// A message of so many mebibytes from a memory of one: its headers are all the same bytes.
fn echo(mebibytes: usize) -> Effect {
    let once = std::mem::ManuallyDrop::new("x".repeat(1 << 20));
    let again = || {
        // SAFETY: none. The parts are never written to; when they are given back, the guest's own memory is spoilt,
        // and that is what a host must survive.
        unsafe { String::from_raw_parts(once.as_ptr().cast_mut(), once.len(), once.capacity()) }
    };
    let headers = (0..mebibytes).map(|at| (at.to_string(), again())).collect();
    let Effect::Publish(message) = publish("echo") else { return publish("echo") };
    Effect::Publish(Message { headers, ..message })
}

fn descend(depth: u64) -> u64 {
    let deeper = std::hint::black_box([depth; 16]);
    if deeper[3] == u64::MAX { 0 } else { descend(deeper[5] + 1) + deeper[9] }
}

fn chatter(lines: usize) -> Transition {
    for line in 0..lines {
        stepwell_sdk::log::write(
            Level::Info,
            &format!("{line} {}", "x".repeat(1_000)),
            &json!({ "line": line }),
        );
    }
    completed("1".into())
}

/// Few lines, of a mebibyte each.
fn shout(lines: usize) -> Transition {
    let line = "x".repeat(1 << 20);
    for _ in 0..lines {
        stepwell_sdk::log::info(&line);
    }
    completed("1".into())
}

#[cfg(target_arch = "wasm32")]
stepwell_sdk::bindings::step::export!(Hostile with_types_in stepwell_sdk::bindings::step);
