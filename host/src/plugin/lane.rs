//! The slow lane: calls that compute for long go on here, on threads of their own that give way to all others.
//!
//! A call begins where it is made, and nearly all end there, within microseconds. One that takes longer is
//! moved here at the next tick, at the place where it yielded. Half of the cores at most work for a lane, at low priority, a tick
//! for each call in turn, and tenants take turns: whatever plugins do, the threads that serve requests are free.
//!
//! There are two lanes: one for what is slow, and one for plugins whose slow calls end in faults. The second computes only while
//! nobody else wants to: a thread that serves requests takes its core at once, where it would else wait for a slice of time.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::Error;
use super::lately::{Key, Lately};
use super::spent::Spent;
use super::turns::Turns;

/// How a lane stands to all other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It gets less than they.
    Back,
    /// It gets what they leave.
    Last,
}

/// How far a lane stands back: 19 is the furthest. At 5 it gets a quarter of a core that others want all of, so that
/// slow calls still end on a machine that is busy with other things.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

/// A call that has begun.
pub(super) type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Where slow calls go on.
pub(super) struct Lanes {
    back: Lane,
    last: Lane,
    /// Plugins whose slow calls ended in faults: they belong into the last lane, also with what is under way.
    pub(super) harmful: Arc<Lately>,
}

/// One of them. Its threads end with it.
struct Lane {
    door: Arc<Door>,
    closed: Arc<AtomicBool>,
}

/// Where jobs come in. Who brings one never waits for the lane's threads, which the kernel may stop at any place for long.
type Door = mpsc::Sender<Arc<Job>>;

/// What the threads of a lane share with each other, and with nobody else.
struct Line {
    arrived: mpsc::Receiver<Arc<Job>>,
    turns: Turns<Arc<Job>>,
}

/// One call in the lane.
struct Job {
    key: Key,
    back: Weak<Door>,
    last: Weak<Door>,
    harmful: Arc<Lately>,
    /// Timers of what the guest waits for are this runtime's.
    timers: Handle,
    spent: Arc<Spent>,
    queued: AtomicBool,
    queued_at: Mutex<Option<Instant>>,
    work: Mutex<Option<Work<()>>>,
}

impl Lane {
    /// A lane with a thread for half of the cores, at least one.
    fn new(place: Place) -> Result<Self, Error> {
        let (door, arrived) = mpsc::channel();
        let lane = Self { door: Arc::new(door), closed: Arc::default() };
        let line = Arc::new(Mutex::new(Line { arrived, turns: Turns::default() }));
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        for _ in 0..(cores / 2).max(1) {
            let (line, closed) = (line.clone(), lane.closed.clone());
            let next = move || line.lock().unwrap_or_else(PoisonError::into_inner).next();
            let thread = std::thread::Builder::new().name("plugin-lane".into()).spawn(move || {
                stand(place);
                while let Some(job) = next().filter(|_| !closed.load(Ordering::Acquire)) {
                    job.turn();
                }
            });
            thread.map_err(|error| Error(format!("a thread for slow plugins does not start: {error}")))?;
        }
        Ok(lane)
    }
}

impl Lanes {
    /// Both, empty.
    pub(super) fn new() -> Result<Self, Error> {
        Ok(Self { back: Lane::new(Place::Back)?, last: Lane::new(Place::Last)?, harmful: Arc::default() })
    }

    /// Lets a call go on here to its end, and tells the time that it took; none if it came to no end, because it panicked
    /// or the host stops. It is given up when the caller is.
    pub(super) async fn finish<T: Send + 'static>(
        &self,
        key: Key,
        spent: Arc<Spent>,
        work: Work<T>,
    ) -> Option<(T, Duration)> {
        let (mut reply, answer) = oneshot::channel();
        let clock = Arc::clone(&spent);
        let work = async move {
            let ended = tokio::select! {
                biased;
                () = reply.closed() => return,
                ended = AssertUnwindSafe(work).catch_unwind() => ended,
            };
            // A caller that went away meanwhile does not matter; a panic has been told by its hook. The time is read on this
            // thread, whose turn it is: the kernel may stop it as soon as the caller is awake.
            if let Ok(value) = ended {
                let _ = reply.send((value, clock.time()));
            }
        };
        let job = Arc::new(Job {
            key,
            back: Arc::downgrade(&self.back.door),
            last: Arc::downgrade(&self.last.door),
            harmful: Arc::clone(&self.harmful),
            timers: Handle::current(),
            spent,
            queued: AtomicBool::new(false),
            queued_at: Mutex::default(),
            work: Mutex::new(Some(Box::pin(work))),
        });
        job.wake();
        answer.await.ok()
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // What still waits is dropped with the line, by the last of the threads.
        self.closed.store(true, Ordering::Release);
    }
}

impl Line {
    /// Waits for the next one whose turn it is; none when the door is gone and nothing is left.
    fn next(&mut self) -> Option<Arc<Job>> {
        loop {
            while let Ok(job) = self.arrived.try_recv() {
                self.join(job);
            }
            if let Some(job) = self.turns.pop() {
                return Some(job);
            }
            let job = self.arrived.recv().ok()?;
            self.join(job);
        }
    }

    fn join(&mut self, job: Arc<Job>) {
        let tenant = job.key.0.clone();
        self.turns.push(&tenant, job);
    }
}

impl Job {
    /// Runs until it ends, or yields, or waits.
    fn turn(self: Arc<Self>) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let since = self.queued_at.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.spent.rested(since.map(|since| since.elapsed()).unwrap_or_default());
        self.queued.swap(false, Ordering::AcqRel);
        let Some(running) = work.as_mut() else { return };
        let waker = Waker::from(self.clone());
        let _timers = self.timers.enter();
        self.spent.turn_begins();
        if running.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            *work = None;
        }
        self.spent.turn_ends();
    }
}

impl Wake for Job {
    fn wake(self: Arc<Self>) {
        let lane = if self.harmful.is_bad(&self.key) { &self.last } else { &self.back };
        let Some(lane) = lane.upgrade() else { return };
        if self.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        *self.queued_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        // A lane that has ended meanwhile needs nobody any more.
        let _ = lane.send(self);
    }
}

/// The thread gives way to every other. Where that cannot be said of a thread, its number alone bounds it.
fn stand(place: Place) {
    #[cfg(target_os = "linux")]
    {
        use thread_priority::{
            NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
            thread_native_id,
        };
        let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        let last = || set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
        let stands_last = place == Place::Last
            && last()
                .inspect_err(|error| tracing::debug!(?error, "the kernel has no place behind all others"))
                .is_ok();
        if !stands_last && let Err(error) = rustix::process::setpriority_process(None, NICE) {
            tracing::debug!(%error, "slow plugins run at the priority of all others");
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = place;
}
