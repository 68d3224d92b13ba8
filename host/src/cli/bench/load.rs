//! The load: each worker starts an instance, polls for a task and completes it, again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::super::Error;
use super::http::Connection;
use super::report::Samples;

/// What workers poll for.
const TASK_TYPE: &str = "bench";

/// The workflow under load.
pub(super) const WORKFLOW: &str = r#"{"key": "bench", "steps": [{"id": "work", "type": "EXTERNAL_TASK", "config": {
    "taskType": "bench", "timeout": "1h", "input": {"order": "${workflow.context.order}", "note": "${workflow.context.note}"},
    "outputMapping": {"receipt": "$.result.receipt"}}}]}"#;

/// What one worker saw.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) start: Samples,
    pub(super) poll: Samples,
    pub(super) complete: Samples,
    pub(super) cycle: Samples,
    pub(super) errors: u64,
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.start.add(other.start);
        self.poll.add(other.poll);
        self.complete.add(other.complete);
        self.cycle.add(other.cycle);
        self.errors += other.errors;
    }
}

/// How hard, and how long.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) address: String,
    pub(super) workers: usize,
    pub(super) warm_up: Duration,
    pub(super) duration: Duration,
    /// Ends earlier when so many cycles are done.
    pub(super) cycles_max: Option<u64>,
}

/// Runs the load; what was seen after the warm-up, and for how long it was looked at.
pub(super) async fn run(plan: &Plan, progress: impl Fn(u64)) -> Result<(Seen, Duration), Error> {
    let counting = Arc::new(AtomicBool::new(false));
    let stop = Arc::new(AtomicBool::new(false));
    let cycles = Arc::new(AtomicU64::new(0));
    let mut workers = tokio::task::JoinSet::new();
    for number in 0..plan.workers {
        let (plan, counting, stop, cycles) = (plan.clone(), counting.clone(), stop.clone(), cycles.clone());
        workers.spawn(async move { work(&plan, number, &counting, &stop, &cycles).await });
    }
    tokio::time::sleep(plan.warm_up).await;
    counting.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    while begun.elapsed() < plan.duration {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let done = cycles.load(Ordering::Relaxed);
        progress(done);
        if plan.cycles_max.is_some_and(|max| done >= max) {
            break;
        }
    }
    let took = begun.elapsed();
    counting.store(false, Ordering::Relaxed);
    stop.store(true, Ordering::Relaxed);
    let mut seen = Seen::default();
    while let Some(worker) = workers.join_next().await {
        match worker {
            Ok(Ok(one)) => seen.add(one),
            Ok(Err(error)) => {
                return Err(Error::refused("bench_load", format!("the load broke off: {error}")));
            }
            Err(error) => return Err(Error::refused("bench_load", error.to_string())),
        }
    }
    Ok((seen, took))
}

async fn work(
    plan: &Plan,
    number: usize,
    counting: &AtomicBool,
    stop: &AtomicBool,
    cycles: &AtomicU64,
) -> std::io::Result<Seen> {
    let mut seen = Seen::default();
    let mut connection = Connection::open(&plan.address).await?;
    let note = "x".repeat(220);
    let start = format!(r#"{{"context": {{"order": {number}, "note": "{note}"}}}}"#);
    let poll = format!("/api/n8n/external-tasks/poll?taskType={TASK_TYPE}&workerId=w{number}&waitSeconds=5");
    while !stop.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let started = connection.send("POST", "/api/v1/workflows/bench/instances", &start).await?;
        let after_start = begun.elapsed();
        let polled = connection.send("GET", &poll, "").await?;
        let after_poll = begun.elapsed();
        let task = polled.json();
        let Some(id) = task[0]["id"].as_str() else {
            seen.errors += u64::from(counting.load(Ordering::Relaxed));
            continue;
        };
        let token = task[0]["lockToken"].as_str().unwrap_or_default();
        let path = format!("/api/n8n/external-tasks/{id}/complete?lockToken={token}");
        let completed = connection.send("POST", &path, r#"{"result": {"receipt": "r-1"}}"#).await?;
        let after_complete = begun.elapsed();
        if counting.load(Ordering::Relaxed) {
            let fine = started.status == 201 && completed.status == 200;
            seen.errors += u64::from(!fine);
            seen.start.push(after_start);
            seen.poll.push(after_poll - after_start);
            seen.complete.push(after_complete - after_poll);
            seen.cycle.push(after_complete);
            cycles.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(seen)
}
