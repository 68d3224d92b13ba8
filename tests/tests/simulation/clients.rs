//! Starters, workers and an operator: they know only what they were told, and try again when told nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use stepwell::dispatch::desk::PollRequest;
use stepwell::domain::page::PageRequest;
use stepwell::domain::task::{Holder, Task};
use stepwell::domain::{InstanceId, TaskId, TenantId};
use stepwell::engine::{Error, StartRequest, WorkerFailure};

use super::world::World;

/// What clients were told, to be held against the rows in the end.
#[derive(Default)]
pub struct Told {
    /// Idempotency key to instance.
    pub started: BTreeMap<String, InstanceId>,
    /// Tasks whose completion was accepted, with the output.
    pub completed: BTreeMap<TaskId, Value>,
    /// Instances whose cancellation was accepted.
    pub cancelled: Vec<InstanceId>,
}

/// Shared by all clients.
pub type Book = Arc<Mutex<Told>>;

/// The longest that a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts instances, each once, however often it has to ask.
pub async fn start_all(world: Arc<World>, book: Book, seed: u64, instances: usize) {
    let mut random = StdRng::seed_from_u64(seed);
    for number in 0..instances {
        tokio::time::sleep(Duration::from_millis(random.random_range(0..400))).await;
        let key = format!("k{number}");
        let workflow = super::model::WORKFLOWS[random.random_range(0..super::model::WORKFLOWS.len())].0;
        loop {
            let request = StartRequest {
                tenant: TenantId::default(),
                workflow_key: workflow.into(),
                version: None,
                context: json!({ "number": number }),
                business_key: None,
                idempotency_key: Some(key.clone()),
                traceparent: None,
            };
            let node = world.any_node(&mut random);
            match tokio::time::timeout(PATIENCE, node.engine.start(request)).await {
                Ok(Ok(started)) => {
                    let before = book.lock().unwrap().started.insert(key.clone(), started.id);
                    assert!(before.is_none_or(|id| id == started.id), "one key, two instances");
                    break;
                }
                Ok(Err(error)) => assert_passing(&error),
                Err(_) => {}
            }
            tokio::time::sleep(Duration::from_millis(random.random_range(1..500))).await;
        }
    }
}

/// Works for ever: polls, sometimes forgets a task, reports what it did until it is told something.
pub async fn work(world: Arc<World>, book: Book, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let name = format!("worker-{seed}");
    loop {
        let node = world.any_node(&mut random);
        let request = PollRequest {
            tenant: TenantId::default(),
            task_types: vec!["work".into()],
            worker_id: Some(name.clone()),
            max_tasks: random.random_range(1..4),
            wait: Duration::from_millis(random.random_range(0..8_000)),
            lock_ms: None,
            request_id: None,
        };
        let Ok(Ok(tasks)) = tokio::time::timeout(PATIENCE, node.desk.poll(request)).await else {
            tokio::time::sleep(Duration::from_millis(random.random_range(1..1_000))).await;
            continue;
        };
        for task in tasks {
            if !world.is_calm() && random.random_bool(0.05) {
                continue; // The worker died with it: its lock will expire.
            }
            report(&world, &book, &mut random, &task).await;
        }
    }
}

async fn report(world: &World, book: &Book, random: &mut StdRng, task: &Task) {
    tokio::time::sleep(Duration::from_millis(random.random_range(0..4_000))).await;
    let holder = Holder { worker_id: None, lock_token: task.lock_token };
    let output = json!({ "by": task.lock_token });
    let fate: f64 = if world.is_calm() { 1.0 } else { random.random() };
    for _ in 0..20 {
        let node = world.any_node(random);
        let tenant = &task.tenant;
        let call = async {
            if fate < 0.1 {
                return node.engine.fail(tenant, task.id, &holder, failure("again", false)).await;
            }
            if fate < 0.2 {
                return node.engine.fail(tenant, task.id, &holder, failure("boom", true)).await;
            }
            node.engine.complete(tenant, task.id, &holder, output.clone()).await
        };
        match tokio::time::timeout(PATIENCE, call).await {
            Ok(Ok(_)) => {
                if fate >= 0.2 {
                    book.lock().unwrap().completed.insert(task.id, output.clone());
                }
                // A repeat after a lost answer: asked again, told the same.
                if random.random_bool(0.1) {
                    continue;
                }
                return;
            }
            Ok(Err(Error::Conflict { .. } | Error::NotFound { .. })) => return,
            Ok(Err(error)) => assert_passing(&error),
            Err(_) => {}
        }
        tokio::time::sleep(Duration::from_millis(random.random_range(1..800))).await;
    }
}

fn failure(code: &str, no_retry: bool) -> WorkerFailure {
    WorkerFailure { code: Some(code.into()), message: code.into(), no_retry, ..WorkerFailure::default() }
}

/// Resumes incidents, and cancels an instance now and then.
pub async fn operate(world: Arc<World>, book: Book, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let tenant = TenantId::default();
    loop {
        tokio::time::sleep(Duration::from_millis(random.random_range(500..5_000))).await;
        let node = world.any_node(&mut random);
        let page = PageRequest { after: None, limit: 100 };
        if let Ok(Ok(open)) =
            tokio::time::timeout(PATIENCE, node.store.incidents(&tenant, None, true, &page)).await
        {
            for incident in open {
                let _ = tokio::time::timeout(PATIENCE, node.engine.resume(&tenant, incident.id)).await;
            }
        }
        if !world.is_calm() && random.random_bool(0.1) {
            let known: Vec<InstanceId> = book.lock().unwrap().started.values().copied().collect();
            if known.is_empty() {
                continue;
            }
            let id = known[random.random_range(0..known.len())];
            let cancelled =
                tokio::time::timeout(PATIENCE, node.engine.cancel(&tenant, id, "simulated")).await;
            if matches!(cancelled, Ok(Ok(()))) {
                book.lock().unwrap().cancelled.push(id);
            }
        }
    }
}

/// Only faults of the way to the store, and contention, may be told to a client.
fn assert_passing(error: &Error) {
    assert!(matches!(error, Error::Store(_) | Error::Busy { .. }), "a client was told: {error:?}");
}
