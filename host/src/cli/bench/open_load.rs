//! The open load: starts come on a schedule, whether the host keeps up or not. Times are counted from when a start was
//! due, so that a host that stalls cannot hide it by slowing the load down.
//!
//! Half of the starts are made by workers who then poll and complete: their poll finds work. The other half are made by
//! starters, and their tasks go to parked pollers: dispatch. Beside them, some ask now and then for what is never there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::super::Error;
use super::cycle::{BUSY, Client, NOTHING, PARKED};
use super::dispatch::Ledger;
use super::host::Host;
use super::load::{POLL_WAIT_SECONDS, Plan, gather};
use super::meter::Reading;
use super::phase::{Measured, Rates};
use super::seen::Seen;

/// How long parked polls wait.
const PARKED_WAIT_SECONDS: u64 = 60;
/// Time between two empty polls.
const EMPTY_POLL_EVERY: Duration = Duration::from_millis(10);
/// How long late starts are still made, and tasks still waited for, after the end.
const GRACE: Duration = Duration::from_secs(10);
/// How often progress is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What all share.
struct Shared {
    address: String,
    schedule: Schedule,
    /// Starts that are taken, of workers and of starters.
    taken: [AtomicU64; 2],
    cycles: AtomicU64,
    /// Tasks that parked pollers have yet to complete.
    on_the_way: AtomicU64,
    ledger: Ledger,
    /// No more work for parked pollers.
    stop: CancellationToken,
}

/// When starts are due.
struct Schedule {
    begin: Instant,
    counted_from: Instant,
    end: Instant,
    per_second: f64,
}

impl Schedule {
    /// Even ones are the workers', odd ones the starters'.
    #[expect(clippy::cast_precision_loss, reason = "starts of one run are far below 2^52")]
    fn due(&self, number: u64) -> Instant {
        self.begin + Duration::from_secs_f64(number as f64 / self.per_second)
    }

    fn counts(&self, due: Instant) -> bool {
        due >= self.counted_from && due < self.end
    }
}

impl Shared {
    /// Waits for the next start of workers (0) or starters (1); none at the end.
    async fn next(&self, who: usize) -> Option<Instant> {
        let number = self.taken[who].fetch_add(1, Ordering::Relaxed) * 2 + who as u64;
        let due = self.schedule.due(number);
        if due >= self.schedule.end || Instant::now() > self.schedule.end + GRACE {
            return None;
        }
        tokio::time::sleep_until(due.into()).await;
        Some(due)
    }
}

/// Runs so many cycles a second, and measures after the warm-up.
pub(super) async fn run(
    host: &Host,
    plan: &Plan,
    per_second: f64,
    progress: impl Fn(u64),
) -> Result<Measured, Error> {
    let begin = Instant::now() + Duration::from_millis(200);
    let counted_from = begin + plan.warm_up;
    let schedule = Schedule { begin, counted_from, end: counted_from + plan.duration, per_second };
    let shared = Arc::new(Shared {
        address: host.address.clone(),
        schedule,
        taken: Default::default(),
        cycles: AtomicU64::new(0),
        on_the_way: AtomicU64::new(0),
        ledger: Ledger::default(),
        stop: CancellationToken::new(),
    });
    let (mut senders, mut pollers) = (JoinSet::new(), JoinSet::new());
    for number in 0..plan.workers {
        pollers.spawn(take(Arc::clone(&shared), number));
        senders.spawn(work(Arc::clone(&shared), number));
        senders.spawn(start(Arc::clone(&shared), number));
    }
    senders.spawn(ask_in_vain(Arc::clone(&shared)));

    tokio::time::sleep_until(counted_from.into()).await;
    let before = Reading::take(host).await;
    let mut rates = Rates::default();
    while Instant::now() < shared.schedule.end {
        tokio::time::sleep(LOOK_EVERY).await;
        let done = shared.cycles.load(Ordering::Relaxed);
        rates.look(counted_from.elapsed(), done);
        progress(done);
    }
    let after = Reading::take(host).await;
    let mut seen = gather(senders).await?;
    let patience = Instant::now() + GRACE;
    while shared.on_the_way.load(Ordering::Relaxed) > 0 && Instant::now() < patience {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    shared.stop.cancel();
    seen.add(gather(pollers).await?);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of starts")]
    let planned = (plan.duration.as_secs_f64() * per_second) as u64;
    let cycles = shared.cycles.load(Ordering::Relaxed);
    let missed = planned.saturating_sub(cycles + seen.errors);
    let (took, per_second) = (plan.duration, rates.per_second());
    Ok(Measured { seen, cycles, took, per_second, cost: after.since(before), missed })
}

/// A worker that starts, polls and completes.
async fn work(shared: Arc<Shared>, number: usize) -> std::io::Result<Seen> {
    let mut seen = Seen::default();
    let mut client = Client::open(&shared.address, BUSY, number, POLL_WAIT_SECONDS).await?;
    while let Some(due) = shared.next(0).await {
        let started = client.start().await?;
        let after_start = Instant::now();
        let polled = client.poll().await?;
        let after_poll = Instant::now();
        let completed = match &polled {
            Some(task) => client.complete(task).await?,
            None => false,
        };
        if shared.schedule.counts(due) {
            seen.start.push(after_start - due);
            if started.is_none() || !completed {
                seen.errors += 1;
                continue;
            }
            seen.poll.push(after_poll - after_start);
            seen.complete.push(after_poll.elapsed());
            seen.cycle.push(due.elapsed());
            shared.cycles.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(seen)
}

/// A starter, who does nothing else.
async fn start(shared: Arc<Shared>, number: usize) -> std::io::Result<Seen> {
    let mut seen = Seen::default();
    let mut client = Client::open(&shared.address, PARKED, number, POLL_WAIT_SECONDS).await?;
    while let Some(due) = shared.next(1).await {
        shared.on_the_way.fetch_add(1, Ordering::Relaxed);
        let started = client.start().await?;
        let answered = Instant::now();
        let counts = shared.schedule.counts(due);
        if counts {
            seen.start.push(answered - due);
        }
        let Some(instance) = started else {
            seen.errors += u64::from(counts);
            shared.on_the_way.fetch_sub(1, Ordering::Relaxed);
            continue;
        };
        let dispatched = shared.ledger.started(instance, due, answered);
        dispatched.into_iter().filter(|_| counts).for_each(|dispatch| seen.dispatched(dispatch));
    }
    Ok(seen)
}

/// A parked poller, who completes what comes.
async fn take(shared: Arc<Shared>, number: usize) -> std::io::Result<Seen> {
    let mut seen = Seen::default();
    let mut client = Client::open(&shared.address, PARKED, number, PARKED_WAIT_SECONDS).await?;
    loop {
        let asked = Instant::now();
        let polled = tokio::select! {
            polled = client.poll() => polled?,
            () = shared.stop.cancelled() => return Ok(seen),
        };
        let Some(task) = polled else { continue };
        let at = Instant::now();
        let dispatched = shared.ledger.in_hand(task.instance, asked, at);
        // One that came before the answer to its start is told by the starter.
        let counts = shared.schedule.counts(dispatched.map_or(at, |dispatch| dispatch.due));
        dispatched.into_iter().filter(|_| counts).for_each(|dispatch| seen.dispatched(dispatch));
        let completed = client.complete(&task).await?;
        shared.on_the_way.fetch_sub(1, Ordering::Relaxed);
        if counts {
            seen.complete.push(at.elapsed());
            seen.errors += u64::from(!completed);
            shared.cycles.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Polls that do not wait, for tasks that nobody makes.
async fn ask_in_vain(shared: Arc<Shared>) -> std::io::Result<Seen> {
    let mut seen = Seen::default();
    let mut client = Client::open(&shared.address, NOTHING, 0, 0).await?;
    let mut due = shared.schedule.begin;
    while due < shared.schedule.end {
        tokio::time::sleep_until(due.into()).await;
        let polled = client.poll().await?;
        if shared.schedule.counts(due) {
            seen.empty_poll.push(due.elapsed());
            seen.errors += u64::from(polled.is_some());
        }
        // A poll that took longer than the pause does not make the next ones late: they are not the load.
        due = (due + EMPTY_POLL_EVERY).max(Instant::now());
    }
    Ok(seen)
}
