//! One round of what is due: task deadlines, timers, schedules, the outbox, and tasks whose wait for a retry is over.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::courier::Courier;
use super::outbox;
use crate::domain::{Clock, Timestamp};
use crate::engine::port::store::Result;
use crate::engine::port::{Announcer, Store};
use crate::engine::{Engine, Error};
use crate::failpoint::{self, Point};
use crate::metrics as names;

/// Task deadlines, schedules and outgoing items taken in one statement.
const ROWS_MAX: u32 = 128;
/// Timers taken in one statement: as many as one commit takes. It bounds the memory of what is due, and the pace.
const TIMER_ROWS_MAX: u32 = 256;
/// Rows worked on at once.
const CONCURRENT_ROWS_MAX: usize = 256;
/// Outgoing items under way at once: they may be slow, and a round does not wait for them.
const OUTGOING_MAX: usize = 256;
/// How long a taken row is ours; then any host may take it again.
const LEASE_MS: i64 = 30_000;
/// A row may be committed a while after the time that is written in it: look back that far.
const LATE_COMMIT_MS: i64 = 5_000;

/// How long a round waits for one row; a slow one goes on without it.
const ITEM_PATIENCE: Duration = Duration::from_secs(2);
/// How long it waits for what leaves the host.
const OUTGOING_PATIENCE: Duration = Duration::from_millis(20);

/// What a round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Task deadlines.
    pub tasks: usize,
    /// Timers.
    pub timers: usize,
    /// Outgoing items.
    pub outgoing: usize,
    /// Schedules.
    pub schedules: usize,
    /// A statement was full: there is more to do at once.
    pub more: bool,
    /// When the next round is due.
    pub next_due: Option<Timestamp>,
}

impl Progress {
    /// Whether nothing was done.
    pub fn idle(&self) -> bool {
        self.tasks + self.timers + self.outgoing + self.schedules == 0
    }
}

/// What a round needs.
pub struct Due {
    store: Arc<dyn Store>,
    engine: Arc<Engine>,
    clock: Arc<dyn Clock>,
    announcer: Arc<dyn Announcer>,
    delayed_until: AtomicI64,
    courier: Option<Arc<Courier>>,
    outgoing: Arc<Semaphore>,
}

impl Due {
    /// Pollers that come later ask for themselves, so tasks that became available before now need no wake-up.
    pub fn new(
        store: Arc<dyn Store>,
        engine: Arc<Engine>,
        clock: Arc<dyn Clock>,
        announcer: Arc<dyn Announcer>,
    ) -> Self {
        let delayed_until = AtomicI64::new(clock.now().millis());
        let outgoing = Arc::new(Semaphore::new(OUTGOING_MAX));
        Self { store, engine, clock, announcer, delayed_until, courier: None, outgoing }
    }

    /// The same with somebody who sends what leaves for the outside.
    #[must_use]
    pub fn with_courier(self, courier: Option<Arc<Courier>>) -> Self {
        Self { courier, ..self }
    }

    /// Does everything that is due now, up to a bound. A row that fails is logged and tried again after its lease.
    pub async fn run_once(&self, now: Timestamp) -> Result<Progress> {
        let mut progress = Progress { next_due: self.store.next_due(now).await?, ..Progress::default() };
        self.wake_delayed(now).await?;
        if progress.next_due.is_none_or(|at| at > now) {
            return Ok(progress);
        }
        let lease_until = now.plus_millis(LEASE_MS);
        let (tasks, timers, outgoing, schedules) = tokio::try_join!(
            self.tasks(now, lease_until),
            self.timers(now, lease_until),
            self.outgoing(now, lease_until),
            self.schedules(now, lease_until),
        )?;
        (progress.tasks, progress.timers, progress.outgoing) = (tasks, timers, outgoing);
        progress.schedules = schedules;
        let (rows_max, timers_max) = (ROWS_MAX as usize, TIMER_ROWS_MAX as usize);
        progress.more = timers == timers_max || [tasks, outgoing, schedules].contains(&rows_max);
        progress.next_due = self.store.next_due(now).await?;
        Ok(progress)
    }

    /// Deadlines of tasks; how many.
    async fn tasks(&self, now: Timestamp, lease_until: Timestamp) -> Result<usize> {
        let tasks = self.store.claim_due_tasks(now, lease_until, ROWS_MAX).await?;
        claimed(&tasks, Point::DeadlinesClaimed);
        let count = tasks.len();
        for_each("task deadline", tasks, ITEM_PATIENCE, |task| {
            let engine = Arc::clone(&self.engine);
            async move {
                metrics::counter!(names::TASKS_TIMED_OUT, "task_type" => task.task_type.clone()).increment(1);
                engine.task_due(task).await
            }
        })
        .await;
        Ok(count)
    }

    /// Timers; how many.
    async fn timers(&self, now: Timestamp, lease_until: Timestamp) -> Result<usize> {
        let timers = self.store.claim_timers(now, lease_until, TIMER_ROWS_MAX).await?;
        claimed(&timers, Point::TimersClaimed);
        let count = timers.len();
        self.engine.expect_timers(&timers).await;
        for_each("timer", timers, ITEM_PATIENCE, |timer| {
            let (engine, clock) = (Arc::clone(&self.engine), Arc::clone(&self.clock));
            async move {
                metrics::counter!(names::TIMERS_FIRED).increment(1);
                let due_at = timer.trigger_at;
                engine.timer_due(timer).await?;
                metrics::histogram!(names::TIMER_LATENESS).record(clock.now().since(due_at).as_secs_f64());
                Ok(())
            }
        })
        .await;
        Ok(count)
    }

    /// Schedules; how many.
    async fn schedules(&self, now: Timestamp, lease_until: Timestamp) -> Result<usize> {
        let schedules = self.store.claim_schedules(now, lease_until, ROWS_MAX).await?;
        let count = schedules.len();
        for_each("schedule", schedules, ITEM_PATIENCE, |schedule| {
            let engine = Arc::clone(&self.engine);
            async move { engine.schedule_due(schedule).await }
        })
        .await;
        Ok(count)
    }

    /// What leaves the host; how many.
    async fn outgoing(&self, now: Timestamp, lease_until: Timestamp) -> Result<usize> {
        let free = u32::try_from(self.outgoing.available_permits()).unwrap_or(0);
        if free == 0 {
            return Ok(0);
        }
        let items = self.store.claim_outbox(now, lease_until, ROWS_MAX.min(free)).await?;
        claimed(&items, Point::OutboxClaimed);
        let count = items.len();
        for_each("outgoing item", items, OUTGOING_PATIENCE, |item| {
            let (engine, store) = (Arc::clone(&self.engine), Arc::clone(&self.store));
            let (now, courier) = (self.clock.now(), self.courier.clone());
            let place: Option<OwnedSemaphorePermit> = Arc::clone(&self.outgoing).try_acquire_owned().ok();
            async move {
                let _place = place;
                outbox::send(&engine, store.as_ref(), courier.as_ref(), item, now).await
            }
        })
        .await;
        Ok(count)
    }

    /// Tells parked polls of tasks whose wait is over.
    async fn wake_delayed(&self, now: Timestamp) -> Result<()> {
        let after = Timestamp::from_millis(self.delayed_until.load(Ordering::Relaxed) - LATE_COMMIT_MS);
        let hints = self.store.available_since(after, now).await?;
        self.delayed_until.store(now.millis(), Ordering::Relaxed);
        if !hints.is_empty() {
            self.engine.heard(&hints);
            self.announcer.announce(&hints);
        }
        Ok(())
    }
}

fn claimed<T>(rows: &[T], point: Point) {
    if !rows.is_empty() {
        failpoint::pass(point);
    }
}

/// Runs each item in a task of its own, some at once, so that neither an error nor a panic stops the others.
async fn for_each<T, F>(what: &'static str, items: Vec<T>, patience: Duration, work: impl Fn(T) -> F)
where
    F: Future<Output = std::result::Result<(), Error>> + Send + 'static,
{
    futures::stream::iter(items.into_iter().map(|item| tokio::spawn(work(item))))
        .for_each_concurrent(CONCURRENT_ROWS_MAX, |done| async move {
            let trouble = match tokio::time::timeout(patience, done).await {
                Ok(Ok(Ok(()))) => return,
                Ok(Ok(Err(error))) => error.to_string(),
                Ok(Err(panicked)) => panicked.to_string(),
                // It goes on in its own task, under its lease; the others are not kept waiting.
                Err(_) => return,
            };
            metrics::counter!(names::LOOP_ERRORS, "loop" => "due").increment(1);
            tracing::warn!(what, trouble, "left for the next round");
        })
        .await;
}
