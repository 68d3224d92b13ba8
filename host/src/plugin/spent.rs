//! The time that a call took of its limit: since its beginning, without the time in which it waited for its turn.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

/// One call's time.
#[derive(Debug)]
pub(super) struct Spent {
    begun: Instant,
    rested_us: AtomicU64,
}

impl Spent {
    /// A call that begins now.
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), rested_us: AtomicU64::new(0) }
    }

    /// It was ready, and others had their turn.
    pub(super) fn rested(&self, time: Duration) {
        self.rested_us.fetch_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// What counts.
    pub(super) fn time(&self) -> Duration {
        self.begun.elapsed().saturating_sub(Duration::from_micros(self.rested_us.load(Ordering::Relaxed)))
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
    async fn rest_does_not_count() {
        let spent = Spent::new();
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(spent.time() >= Duration::from_millis(20));
        spent.rested(Duration::from_secs(3_600));
        assert_eq!(spent.time(), Duration::ZERO);
        let work = async { tokio::time::sleep(Duration::from_millis(30)).await };
        assert_eq!(spent.within(Duration::from_millis(10), work).await, Some(()), "it has an hour to spare");
    }
}
