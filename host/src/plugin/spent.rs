//! The time that a call took of its limit: since its beginning, without the time in which it waited for its turn, or
//! had it and no core to run on. So a busy machine, or a full lane, does not make a plugin slow.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

/// One call's time.
#[derive(Debug)]
pub(super) struct Spent {
    begun: Instant,
    rested_us: AtomicU64,
    turn: Mutex<Option<Turn>>,
}

/// A turn that runs, on the thread that asks.
#[derive(Clone, Copy, Debug)]
struct Turn {
    begun: Instant,
    computed: Duration,
}

impl Turn {
    fn now() -> Option<Self> {
        Some(Self { begun: Instant::now(), computed: computed()? })
    }

    /// The time in which the thread had no core.
    fn idle(self) -> Duration {
        let computed = computed().unwrap_or_default().saturating_sub(self.computed);
        self.begun.elapsed().saturating_sub(computed)
    }
}

/// The time that this thread computed, where it can be told.
fn computed() -> Option<Duration> {
    #[cfg(target_os = "linux")]
    return Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).ok();
    #[cfg(not(target_os = "linux"))]
    None
}

/// What a future answers, and the time that it computed, whichever threads that was on.
pub(super) async fn counted<T>(work: impl Future<Output = T>) -> (T, Option<Duration>) {
    let mut work = pin!(work);
    let mut sum = Some(Duration::ZERO);
    let answer = std::future::poll_fn(|context| {
        let before = computed();
        let polled = work.as_mut().poll(context);
        let turn = computed().zip(before).map(|(after, before)| after.saturating_sub(before));
        sum = sum.zip(turn).map(|(sum, turn)| sum + turn);
        polled
    })
    .await;
    (answer, sum)
}

impl Spent {
    /// A call that begins now.
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), rested_us: AtomicU64::new(0), turn: Mutex::new(None) }
    }

    /// It was ready, and others had their turn.
    pub(super) fn rested(&self, time: Duration) {
        self.rested_us.fetch_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Nothing counts that was until now.
    pub(super) fn starts_over(&self) {
        self.rested(self.time());
    }

    /// The guest runs on this thread from now on.
    pub(super) fn turn_begins(&self) {
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = Turn::now();
    }

    /// It ran until now.
    pub(super) fn turn_ends(&self) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.rested(turn.map(Turn::idle).unwrap_or_default());
    }

    /// What counts.
    pub(super) fn time(&self) -> Duration {
        let turn = *self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let rested = Duration::from_micros(self.rested_us.load(Ordering::Relaxed));
        self.begun.elapsed().saturating_sub(rested + turn.map(Turn::idle).unwrap_or_default())
    }

    /// Lets it go on until the limit is reached; then there is no answer.
    pub(super) async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        // Made when first needed: nearly all calls end at the first poll.
        let mut alarm = None;
        std::future::poll_fn(|context| {
            if let Poll::Ready(answer) = work.as_mut().poll(context) {
                return Poll::Ready(Some(answer));
            }
            loop {
                let left = limit.saturating_sub(self.time());
                if left.is_zero() {
                    return Poll::Ready(None);
                }
                let alarm = alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep(left)));
                if alarm.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                // It rested meanwhile: there is time left.
                alarm.as_mut().reset(tokio::time::Instant::now() + left);
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_waits_for_ever_is_ended() {
        let spent = Spent::new();
        assert_eq!(spent.within(Duration::from_millis(5), std::future::pending::<()>()).await, None);
        assert_eq!(spent.within(Duration::from_secs(60), async { 7 }).await, Some(7));
    }

    #[tokio::test]
    async fn what_is_computed_is_counted_without_waits() {
        let work = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let begun = Instant::now();
            let before = computed();
            while begun.elapsed() < Duration::from_millis(5) {}
            before.zip(computed()).map(|(before, after)| after - before)
        };
        let (busy, all) = counted(work).await;
        assert_eq!(busy.is_some(), all.is_some());
        if let (Some(busy), Some(all)) = (busy, all) {
            assert!(all >= busy && all < busy + Duration::from_millis(20), "{all:?} {busy:?}");
        }
    }

    #[tokio::test]
    async fn rest_does_not_count() {
        let spent = Spent::new();
        spent.turn_begins();
        std::thread::sleep(Duration::from_millis(20));
        if computed().is_some() {
            assert!(spent.time() < Duration::from_millis(20), "it had no core");
        }
        spent.turn_ends();
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(spent.time() >= Duration::from_millis(20));
        spent.rested(Duration::from_secs(3_600));
        assert_eq!(spent.time(), Duration::ZERO);
        let work = async { tokio::time::sleep(Duration::from_millis(30)).await };
        assert_eq!(spent.within(Duration::from_millis(10), work).await, Some(()), "it has an hour to spare");
    }
}
