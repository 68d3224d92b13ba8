//! Waits for two events in a world that goes wrong: any order, both at once, a time-out in between, repeats, events of
//! others, events that come before their wait, crashes and lost answers. Each instance is a case.
//!
//! `make simulate` runs 10,000 cases; `STEPWELL_SEED=7 make simulate` runs one seed again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use stepwell::domain::id::number_ids_on_this_thread;
use stepwell::domain::incoming::{EventSource, IncomingCallback, IncomingEvent, Receipt, Rejection};
use stepwell::domain::instance::{Instance, InstanceStatus};
use stepwell::domain::step::StepExecution;
use stepwell::domain::wait::{WaitState, WaitStatus};
use stepwell::domain::{InstanceId, TenantId};
use stepwell::engine::{Error, StartRequest};
use stepwell::node::Node;

use super::clients::{Book, operate};
use super::memory::Tables;
use super::world::World;

/// Cases of the usual test run.
const CASES: u64 = 1_200;
/// Instances of one seed.
const INSTANCES: usize = 6;
/// How long things go wrong, in virtual time.
const TROUBLE: Duration = Duration::from_secs(40);
/// How long it may then take until everything has ended, in virtual time.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// The longest that a client waits for an answer.
const ANSWER: Duration = Duration::from_secs(10);

const EVENTS: [&str; 2] = ["api_response", "kafka_event"];
const STRATEGIES: [&str; 4] = ["all", "any", "required_only", "custom"];
const ON_TIMEOUT: [&str; 3] = ["fail", "continue", "continue_with_partial"];

#[test]
fn every_interleaving_resumes_once_and_as_the_rules_say() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = number("STEPWELL_SEEDS").unwrap_or(CASES).div_ceil(INSTANCES as u64);
    let (first, count) = number("STEPWELL_SEED").map_or((1, seeds), |seed| (seed, 1));
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for seed in (first + thread..first + count).step_by(threads as usize) {
                    let outcome = std::panic::catch_unwind(|| run(seed));
                    if let Err(panic) = outcome {
                        eprintln!("seed {seed} failed; run it again with: STEPWELL_SEED={seed}");
                        std::panic::resume_unwind(panic);
                    }
                }
            });
        }
    });
}

#[test]
fn the_same_seed_of_waits_is_the_same_run() {
    assert_eq!(run(99), run(99));
}

/// What senders were told, by instance and event.
type Told = Arc<Mutex<BTreeMap<(InstanceId, &'static str), Vec<Receipt>>>>;

fn run(seed: u64) -> String {
    number_ids_on_this_thread();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let journal = runtime.block_on(scenario(seed));
    runtime.shutdown_background();
    journal
}

/// What the workflow of a seed does. The event is required and the answer is not, or the other way about.
struct Case {
    strategy: &'static str,
    on_timeout: &'static str,
    required: &'static str,
    /// How long the instance works before it waits.
    before_ms: u64,
}

impl Case {
    fn of(random: &mut StdRng) -> Self {
        Self {
            strategy: STRATEGIES[random.random_range(0..STRATEGIES.len())],
            on_timeout: ON_TIMEOUT[random.random_range(0..ON_TIMEOUT.len())],
            required: EVENTS[random.random_range(0..2)],
            before_ms: random.random_range(1..6_000),
        }
    }

    fn source(&self, random: &mut StdRng) -> String {
        let event = |name: &str, more: Value| {
            let mut event = json!({ "name": name, "required": self.required == name });
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            event
        };
        let kafka = json!({ "source": "kafka", "topic": "t", "filter": { "type": "done" },
            "correlationIdField": "data.corr", "timeout": random.random_range(3..20) });
        let config = json!({
            "correlationId": "order-@{_execution.id}",
            "events": [event(EVENTS[0], json!({ "source": "callback" })), event(EVENTS[1], kafka)],
            "aggregationStrategy": self.strategy, "requiredEvents": [self.required],
            "timeout": random.random_range(4..20), "onTimeout": self.on_timeout,
        });
        let steps = json!([
            { "id": "before", "type": "WAIT", "config": { "ms": self.before_ms } },
            { "id": "wait", "type": "wait_events", "config": config },
        ]);
        json!({ "steps": steps }).to_string()
    }
}

async fn scenario(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed.wrapping_mul(31));
    let case = Case::of(&mut random);
    let world = World::new(seed);
    let trouble = tokio::spawn(world.clone().trouble(seed + 1));
    let source = case.source(&mut random);
    again(&world, &mut random, |node| {
        let source = source.clone();
        async move { node.engine.deploy(&TenantId::default(), Some("w"), &source).await }
    })
    .await;
    tokio::spawn(operate(world.clone(), Book::default(), seed + 3));
    let told = Told::default();
    let mut senders = Vec::new();
    let mut instances = Vec::new();
    for number in 0..INSTANCES {
        let request = StartRequest {
            tenant: TenantId::default(),
            workflow_key: "w".into(),
            version: None,
            context: json!({}),
            business_key: None,
            idempotency_key: Some(format!("k{number}")),
            traceparent: None,
        };
        let started = again(&world, &mut random, |node| {
            let request = request.clone();
            async move { node.engine.start(request).await }
        });
        let id = started.await.id;
        instances.push(id);
        // Each event comes once to three times, from senders of their own; sometimes not at all.
        for (at, name) in EVENTS.iter().enumerate() {
            for copy in 0..random.random_range(0..4_u64) {
                let seed = seed * 1_000 + number as u64 * 20 + at as u64 * 8 + copy;
                senders.push(tokio::spawn(send(world.clone(), told.clone(), id, name, seed)));
            }
        }
        senders.push(tokio::spawn(mislead(world.clone(), id, seed * 7 + number as u64)));
    }
    tokio::time::sleep(TROUBLE).await;
    world.calm_down();
    for sender in senders {
        sender.await.expect("a sender was told something that it must not be told");
    }
    let ended = async {
        let all = |tables: &Tables| instances.iter().all(|id| tables.instances[id].status.ended());
        while !all(&world.tables.lock().unwrap()) {
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, ended).await.is_ok(), "some instances never ended");
    trouble.abort();
    let tables = world.tables.lock().unwrap();
    for id in &instances {
        check(&tables, &tables.instances[id], &case, &told.lock().unwrap());
    }
    let lines = tables.journal.iter().map(|line| format!("{} {} {:?}\n", line.at, line.kind, line.note));
    lines.collect()
}

/// Asks hosts until one of them answers.
async fn again<T, F: Future<Output = Result<T, Error>>>(
    world: &World,
    random: &mut StdRng,
    ask: impl Fn(Arc<Node>) -> F,
) -> T {
    loop {
        match tokio::time::timeout(ANSWER, ask(world.any_node(random))).await {
            Ok(Ok(answer)) => return answer,
            Ok(Err(error)) => {
                assert!(matches!(error, Error::Store(_) | Error::Busy { .. }), "told: {error:?}");
            }
            Err(_) => {}
        }
        tokio::time::sleep(Duration::from_millis(random.random_range(1..400))).await;
    }
}

/// The body of an event that is meant for an instance.
fn payload(id: InstanceId, name: &str) -> Value {
    json!({ "execution_id": id, "data": { "corr": format!("order-{id}") }, "type": "done", "for": id, "as": name })
}

async fn send(world: Arc<World>, told: Told, id: InstanceId, name: &'static str, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    tokio::time::sleep(Duration::from_millis(random.random_range(0..22_000))).await;
    let receipt = again(&world, &mut random, |node| arrive(node, id, name, payload(id, name))).await;
    told.lock().unwrap().entry((id, name)).or_default().push(receipt);
}

async fn arrive(
    node: Arc<Node>,
    id: InstanceId,
    name: &'static str,
    payload: Value,
) -> Result<Receipt, Error> {
    let tenant = TenantId::default();
    if name == EVENTS[0] {
        let callback = IncomingCallback {
            execution_id: id.to_string(),
            correlation_id: format!("order-{id}"),
            event: None,
            headers: Vec::new(),
            body: payload.to_string().into_bytes(),
            payload,
        };
        return node.engine.callback(&tenant, callback).await;
    }
    let event = IncomingEvent {
        tenant: None,
        source: EventSource::Kafka { partition: 0, offset: 7 },
        topic: "t".into(),
        key: None,
        headers: Vec::new(),
        payload,
        id: None,
    };
    node.engine.receive_events(vec![(event, tracing::Span::none())]).await.remove(0)
}

/// Events that are for nobody, or for somebody else: none of them may be taken.
async fn mislead(world: Arc<World>, id: InstanceId, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_millis(random.random_range(0..6_000))).await;
        let mut wrong = payload(id, "wrong");
        let (field, value) = match random.random_range(0..5) {
            0 => ("type", json!("other")),
            1 => ("execution_id", json!("0197b1c4-8d7a-7c3e-9a40-2f6f4f0e0a01")),
            2 => ("execution_id", json!(7)),
            3 => ("data", json!({})),
            _ => ("data", json!({ "corr": "order-of-another" })),
        };
        wrong[field] = value;
        let receipt = again(&world, &mut random, |node| arrive(node, id, EVENTS[1], wrong.clone())).await;
        assert_eq!((receipt.delivered, receipt.started.len()), (0, 0), "{wrong}: {receipt:?}");
    }
}

fn check(
    tables: &Tables,
    instance: &Instance,
    case: &Case,
    told: &BTreeMap<(InstanceId, &'static str), Vec<Receipt>>,
) {
    let id = instance.id;
    let waits: Vec<&WaitState> =
        tables.outside.waits.values().filter(|wait| wait.execution_id == id).collect();
    let [wait] = waits[..] else { panic!("one wait, not {waits:?}") };
    let step = tables.steps.values().find(|step| step.id == wait.id).expect("its step");
    let has = |name: &str| wait.received_events.iter().any(|received| received == name);

    // It was resumed once, by a host that is named, and all rows say the same.
    let ends = tables.journal.iter().filter(|line| line.subject_id == step.id.0 && ends_step(line));
    assert_eq!(ends.count(), 1, "{wait:?}");
    assert!(wait.resumed_at.is_some() && wait.resumed_by.as_ref().is_some_and(|by| by.starts_with("host-")));
    let completed = instance.status == InstanceStatus::Completed;
    assert_eq!(wait.status == WaitStatus::Completed, completed, "{instance:?} {wait:?}");
    assert!(completed || wait.status.dead(), "{wait:?}");

    // What a plugin's fault held up is taken in its order: behind a time-out it comes too late.
    let held = tables.incidents.values().any(|incident| incident.step_execution_id == step.id);
    // What came is its own, each once.
    let mut names = wait.received_events.clone();
    names.dedup();
    assert_eq!(names.len(), wait.received_events.len());
    for (name, data) in [(EVENTS[0], &wait.api_response_data), (EVENTS[1], &wait.kafka_event_data)] {
        assert_eq!(data.is_some(), has(name), "{wait:?}");
        if let Some(data) = data {
            assert_eq!((&data["for"], &data["as"]), (&json!(id), &json!(name)), "somebody else's event");
        }
        let receipts = told.get(&(id, name)).map(Vec::as_slice).unwrap_or_default();
        let delivered: usize = receipts.iter().map(|receipt| receipt.delivered).sum();
        assert!(delivered <= 1, "it was told twice that {name} was taken: {receipts:?}");
        assert!(delivered == 0 || has(name) || held, "told, and lost: {receipts:?} {wait:?}");
        assert!(!has(name) || !receipts.is_empty(), "nobody sent {name}");
        for receipt in receipts {
            let fine = receipt.rejected.is_none_or(|rejection| {
                matches!(rejection, Rejection::WaitOver | Rejection::ExecutionOver | Rejection::EventExpired)
            });
            assert!(fine, "{receipt:?}");
        }
    }
    by_the_rules(step, wait, case, completed, has);
}

/// Whether what became of the step is what the strategy and `onTimeout` say of what has come.
fn by_the_rules(
    step: &StepExecution,
    wait: &WaitState,
    case: &Case,
    completed: bool,
    has: impl Fn(&str) -> bool,
) {
    let (both, required) = (EVENTS.iter().all(|name| has(name)), has(case.required));
    let satisfied = match case.strategy {
        "all" => both,
        "any" => !wait.received_events.is_empty(),
        _ => required,
    };
    let goes_on = satisfied
        || match case.on_timeout {
            "fail" => false,
            "continue" => case.strategy == "any" || required,
            _ => true,
        };
    assert_eq!(completed, goes_on, "{} {} {wait:?}", case.strategy, case.on_timeout);
    let partial = !satisfied && case.on_timeout == "continue_with_partial";
    assert_eq!(wait.warning.is_some(), partial, "{wait:?}");
    if completed {
        let output = step.output.as_ref().expect("an output");
        assert_eq!(output["receivedEvents"], json!(wait.received_events));
        assert_eq!(output["api_response"], json!(wait.api_response_data));
    } else {
        assert_eq!(step.error.as_ref().map(|error| error.code.as_str()), Some("wait_timeout"));
    }
}

/// Whether a line of the journal is a decision that ended its step.
fn ends_step(line: &stepwell::domain::journal::JournalEntry) -> bool {
    let answer = line.answer.as_ref().and_then(|text| serde_json::from_str(text.as_str()).ok());
    let answer: Value = answer.unwrap_or_default();
    matches!(answer["outcome"]["kind"].as_str(), Some("completed" | "failed"))
}
