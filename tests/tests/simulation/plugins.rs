//! Step types of the simulation, in plain Rust: as pure as the real ones, and as faulty when the seed says so.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use stepwell::domain::Digest;
use stepwell::domain::effect::{Effect, HeartbeatPolicy, RetryPolicy, TaskSpec};
use stepwell::domain::event::Event;
use stepwell::domain::plugin::{Descriptor, Fault, MapCall, PluginInfo, StepCall, StepVerb, Usage};
use stepwell::domain::transition::{Failure, Outcome, Transition};
use stepwell::engine::port::{Answer, PluginCatalog, Plugins, StepType};

const TYPES: [&str; 5] = ["TASK", "PAIR", "WAIT", "NOW", WAIT_EVENTS];
const WAIT_EVENTS: &str = "wait_events";

/// The plugins of one host.
pub struct Native {
    random: Mutex<StdRng>,
    calm: AtomicBool,
}

impl Native {
    pub fn new(seed: u64) -> Self {
        Self { random: Mutex::new(StdRng::seed_from_u64(seed)), calm: AtomicBool::new(false) }
    }

    /// No more faults.
    pub fn calm(&self) {
        self.calm.store(true, Ordering::Relaxed);
    }

    fn strikes(&self, probability: f64) -> bool {
        !self.calm.load(Ordering::Relaxed) && self.random.lock().unwrap().random_bool(probability)
    }
}

#[async_trait]
impl Plugins for Native {
    fn step_type(&self, name: &str) -> Option<StepType> {
        let known = TYPES.contains(&name);
        let tried_at_deploy = name == WAIT_EVENTS;
        known.then(|| StepType {
            digest: Digest::of(name.as_bytes()),
            descriptor: Arc::new(Descriptor { tried_at_deploy, ..Descriptor::default() }),
        })
    }

    fn mapper(&self, _: &str) -> Option<StepType> {
        None
    }

    fn step_type_names(&self) -> Vec<String> {
        TYPES.map(str::to_owned).to_vec()
    }

    fn check_config(&self, _: &Digest, _: &Value) -> Vec<(String, String)> {
        Vec::new()
    }

    async fn call_step(&self, digest: &Digest, call: &StepCall) -> Result<Answer<Transition>, Fault> {
        // A trial at a deployment changes nothing, and its fault would only hide a topic until the first wait.
        let trial = call.context.extra["trial"] == true;
        if !trial && self.strikes(0.02) {
            return Err(Fault { code: "plugin_trap", message: "simulated".into(), transient: false });
        }
        if !trial && self.strikes(0.02) {
            return Err(Fault { code: "plugin_timeout", message: "simulated".into(), transient: true });
        }
        let is = |name: &str| *digest == Digest::of(name.as_bytes());
        if is(WAIT_EVENTS) {
            return Ok(Answer { result: super::plugins_wait::call(call), usage: Usage::default() });
        }
        let config: Value = serde_json::from_str(&call.context.config).unwrap();
        let mut state = String::from("{}");
        let (effects, outcome) = match &call.verb {
            StepVerb::Start { .. } if is("TASK") => (vec![task(&config, "task")], Outcome::Waiting),
            StepVerb::Start { .. } if is("PAIR") => {
                (vec![task(&config, "left"), task(&config, "right")], Outcome::Waiting)
            }
            StepVerb::Start { .. } if is("WAIT") => {
                let at_ms = call.context.now.millis() + config["ms"].as_i64().unwrap();
                (
                    vec![Effect::SetTimer { key: "t".into(), at_ms, timer_type: "DELAY".into() }],
                    Outcome::Waiting,
                )
            }
            StepVerb::Start { input } => (vec![], Outcome::Completed { output: input.clone() }),
            StepVerb::OnEvent { event: Event::TaskCompleted { .. }, state: before }
                if is("PAIR") && before == "{}" =>
            {
                state = "{\"half\":true}".into();
                (vec![], Outcome::Waiting)
            }
            StepVerb::OnEvent { event, .. } => (vec![], after(event)),
        };
        let transition = Transition { state, state_version: 0, effects, outcome, note: None };
        Ok(Answer { result: Ok(transition), usage: Usage::default() })
    }

    async fn transform(&self, _: &Digest, _: &MapCall) -> Result<Answer<Value>, Fault> {
        unreachable!("the simulation maps nothing")
    }
}

impl PluginCatalog for Native {
    fn list(&self) -> Vec<PluginInfo> {
        Vec::new()
    }

    fn info(&self, _: &str) -> Option<PluginInfo> {
        None
    }
}

fn after(event: &Event) -> Outcome {
    match event {
        Event::TaskCompleted { output, .. } => Outcome::Completed { output: output.clone() },
        Event::TaskFailed { code, message, .. } => {
            Outcome::Failed { failure: Failure::new(code.clone(), message.clone()) }
        }
        Event::TimerFired { .. } => Outcome::Completed { output: json!({ "fired": true }) },
        _ => Outcome::Waiting,
    }
}

fn task(config: &Value, key: &str) -> Effect {
    Effect::CreateTask(TaskSpec {
        key: key.into(),
        topic: config["topic"].as_str().unwrap_or("work").into(),
        input: json!({}),
        priority: 5,
        timeout_ms: Some(600_000),
        lock_ms: 20_000,
        retry: RetryPolicy {
            max_attempts: 50,
            initial_ms: 100,
            factor_percent: 150,
            max_ms: 2_000,
            jitter_percent: 20,
        },
        heartbeat: Some(HeartbeatPolicy { interval_ms: 5_000, max_missed: 2 }),
        max_lock_expiries: 1_000,
        extra: Value::Null,
    })
}
