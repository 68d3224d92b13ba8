//! The closed load: each worker starts an instance, polls for a task and completes it, again and again. Its poll is sent
//! after the start was answered, or, ahead of it, on a connection of its own: as workers that wait for work do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::super::Error;
use super::cycle::{BUSY, Client};
use super::dispatch::Ledger;
use super::host::Host;
use super::meter::Reading;
use super::phase::{Measured, Rates};
use super::seen::Seen;

/// How long a poll waits: longer than any task that is there takes, on any machine.
pub(super) const POLL_WAIT_SECONDS: u64 = 30;
/// How often progress is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How hard, and how long.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) workers: usize,
    /// Polls are parked before the start that serves them.
    pub(super) ahead: bool,
    pub(super) warm_up: Duration,
    pub(super) duration: Duration,
    /// Ends earlier when so many cycles are done.
    pub(super) cycles_max: Option<u64>,
}

/// What all workers share.
#[derive(Default)]
struct Shared {
    counting: AtomicBool,
    stop: AtomicBool,
    cycles: AtomicU64,
    ledger: Ledger,
}

/// Runs the load, and measures after the warm-up.
pub(super) async fn run(host: &Host, plan: &Plan, progress: impl Fn(u64)) -> Result<Measured, Error> {
    let shared = Arc::new(Shared::default());
    let mut workers = JoinSet::new();
    for number in 0..plan.workers {
        let (address, shared, ahead) = (host.address.clone(), Arc::clone(&shared), plan.ahead);
        workers.spawn(async move {
            let ended = work(&address, number, ahead, &shared).await;
            // A worker ends by itself only if its connection broke: the rest is not worth waiting for.
            shared.stop.store(true, Ordering::Relaxed);
            ended
        });
    }
    tokio::time::sleep(plan.warm_up).await;
    let before = Reading::take(host).await;
    shared.counting.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    let mut rates = Rates::default();
    while begun.elapsed() < plan.duration {
        tokio::time::sleep(LOOK_EVERY).await;
        let done = shared.cycles.load(Ordering::Relaxed);
        rates.look(begun.elapsed(), done);
        progress(done);
        if plan.cycles_max.is_some_and(|max| done >= max) || shared.stop.load(Ordering::Relaxed) {
            break;
        }
    }
    shared.counting.store(false, Ordering::Relaxed);
    let took = begun.elapsed();
    let after = Reading::take(host).await;
    shared.stop.store(true, Ordering::Relaxed);
    let seen = gather(workers).await?;
    let (cycles, per_second) = (seen.cycle.len() as u64, rates.per_second());
    Ok(Measured { seen, cycles, took, per_second, cost: after.since(before), missed: 0 })
}

/// What all workers saw, when they have ended.
pub(super) async fn gather(mut workers: JoinSet<std::io::Result<Seen>>) -> Result<Seen, Error> {
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
    Ok(seen)
}

async fn work(address: &str, number: usize, ahead: bool, shared: &Shared) -> std::io::Result<Seen> {
    let mut seen = Seen::default();
    let mut starter = Client::open(address, BUSY, number, POLL_WAIT_SECONDS).await?;
    let mut worker = Client::open(address, BUSY, number, POLL_WAIT_SECONDS).await?;
    while !shared.stop.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let start = async {
            let started = starter.start().await?;
            let answered = Instant::now();
            let early = started.and_then(|id| shared.ledger.started(id, begun, answered));
            std::io::Result::Ok((started, answered, early))
        };
        let ((started, after_start, early), asked, polled) = if ahead {
            let (polled, started) = tokio::join!(worker.poll(), start);
            (started?, begun, polled?)
        } else {
            let started = start.await?;
            let asked = Instant::now();
            (started, asked, worker.poll().await?)
        };
        let after_poll = Instant::now();
        let Some(task) = polled else {
            seen.errors += u64::from(shared.counting.load(Ordering::Relaxed));
            continue;
        };
        let dispatched = shared.ledger.in_hand(task.instance, asked, after_poll);
        let completed = worker.complete(&task).await?;
        if shared.counting.load(Ordering::Relaxed) {
            seen.errors += u64::from(started.is_none() || !completed);
            seen.start.push(after_start - begun);
            seen.poll.push(after_poll - asked);
            seen.complete.push(after_poll.elapsed());
            seen.cycle.push(begun.elapsed());
            early.into_iter().chain(dispatched).for_each(|dispatch| seen.dispatched(dispatch));
            shared.cycles.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(seen)
}
