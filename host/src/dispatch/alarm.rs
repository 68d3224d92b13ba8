//! When this host must look at the clock next: the loop that runs what is due, no earlier and hardly later.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::due::Due;
use super::{SWEEP_SECONDS, backoff};
use crate::domain::{Clock, Timestamp};

/// The least wait after a round that found nothing to do.
const IDLE_MS: i64 = 250;

/// Knows the next time at which something is due, and is told of earlier ones.
#[derive(Debug, Default)]
pub struct Alarm {
    next: Mutex<Option<Timestamp>>,
    earlier: Notify,
}

impl Alarm {
    /// Something is due then: the loop wakes up if that is before the time it sleeps to.
    pub fn not_later_than(&self, at: Timestamp) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.is_none_or(|planned| at < planned) {
            *next = Some(at);
            drop(next);
            self.earlier.notify_one();
        }
    }

    /// Runs a round now.
    pub fn now(&self) {
        self.not_later_than(Timestamp::from_millis(0));
    }

    /// Forgets the plan: what is announced from here on, while a round runs, is news for the round after it.
    fn begin_round(&self) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn planned(&self) -> Option<Timestamp> {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs what is due until the shutdown.
pub async fn run(alarm: &Alarm, due: &Due, clock: &dyn Clock, shutdown: CancellationToken) {
    let mut failures = 0;
    while !shutdown.is_cancelled() {
        alarm.begin_round();
        let round = due.run_once(clock.now()).await;
        let longest = match round {
            Ok(progress) => {
                failures = 0;
                if progress.more {
                    continue;
                }
                if let Some(at) = progress.next_due {
                    // What is due and could not be taken is in other hands: look again, but not in a spin.
                    alarm.not_later_than(at.max(clock.now().plus_millis(if progress.idle() {
                        IDLE_MS
                    } else {
                        0
                    })));
                }
                Duration::from_secs(SWEEP_SECONDS)
            }
            Err(error) => {
                failures += 1;
                metrics::counter!(crate::metrics::LOOP_ERRORS, "loop" => "alarm").increment(1);
                tracing::warn!(%error, "deadlines and timers wait for the database");
                let wait =
                    backoff::after(failures, Duration::from_millis(200), Duration::from_secs(SWEEP_SECONDS));
                tokio::select! {
                    () = tokio::time::sleep(wait) => continue,
                    () = shutdown.cancelled() => return,
                }
            }
        };
        wait(alarm, clock, longest, &shutdown).await;
    }
}

/// Waits for the planned time, a plan that comes to lie earlier, a sweep's time or the end.
async fn wait(alarm: &Alarm, clock: &dyn Clock, longest: Duration, shutdown: &CancellationToken) {
    let sweep = tokio::time::Instant::now() + longest;
    loop {
        let until = alarm.planned().map_or(longest, |at| at.since(clock.now()));
        if until.is_zero() {
            return;
        }
        let wake = sweep.min(tokio::time::Instant::now() + until);
        tokio::select! {
            () = tokio::time::sleep_until(wake) => {
                if wake == sweep {
                    return;
                }
            }
            () = alarm.earlier.notified() => {}
            () = shutdown.cancelled() => return,
        }
    }
}
