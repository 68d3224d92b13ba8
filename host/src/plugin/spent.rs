//! The time that a call took of its limit: since its beginning, without the time in which it waited for its turn, or
//! had it and no core to run on. So a busy machine, or a full lane, does not make a plugin slow.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::lane::Work;

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

/// A future that tells how long it computed when it ends, whichever threads that was on.
pub(super) struct Counted<T, Tell> {
    work: Work<T>,
    sum: Duration,
    tell: Tell,
}

impl<T, Tell: Fn(Duration)> Counted<T, Tell> {
    pub(super) fn new(work: Work<T>, tell: Tell) -> Self {
        Self { work, sum: Duration::ZERO, tell }
    }
}

impl<T, Tell: Fn(Duration) + Unpin> Future for Counted<T, Tell> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let before = computed();
        let polled = self.work.as_mut().poll(context);
        let turn = computed().zip(before).map(|(after, before)| after.saturating_sub(before));
        self.sum += turn.unwrap_or_default();
        if polled.is_ready() {
            (self.tell)(self.sum);
        }
        polled
    }
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
    pub(super) async fn within<F: Future>(
        &self,
        limit: Duration,
        mut work: Pin<&mut F>,
    ) -> Option<F::Output> {
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
    use std::pin::pin;

    use super::*;

    #[tokio::test]
    async fn what_waits_for_ever_is_ended() {
        let spent = Spent::new();
        assert_eq!(spent.within(Duration::from_millis(5), pin!(std::future::pending::<()>())).await, None);
        assert_eq!(spent.within(Duration::from_secs(60), pin!(async { 7 })).await, Some(7));
    }

    #[tokio::test]
    async fn what_is_computed_is_counted_without_waits() {
        let work: Work<Option<Duration>> = Box::pin(async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let (begun, before) = (Instant::now(), computed());
            while begun.elapsed() < Duration::from_millis(5) {}
            before.zip(computed()).map(|(before, after)| after - before)
        });
        let told = Mutex::new(None);
        let busy = Counted::new(work, |sum| *told.lock().unwrap() = Some(sum)).await.unwrap_or_default();
        let all = told.into_inner().unwrap().unwrap();
        assert!(all >= busy && all < busy + Duration::from_millis(20), "{all:?} {busy:?}");
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
        assert_eq!(
            spent.within(Duration::from_millis(10), pin!(work)).await,
            Some(()),
            "it has an hour to spare"
        );
    }
}
