//! How long to go on trying: a database that restarts must not cost its users a failed request.

use std::time::{Duration, Instant};

/// How long a verb goes on after its first failure.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest wait between two tries.
const WAIT_MS_MAX: u64 = 200;

/// Tries after a failure, with growing waits that two hosts do not share.
pub(super) struct Patience {
    limit: Duration,
    since: Option<Instant>,
    tries: u32,
}

impl Patience {
    /// As long as a caller can be kept waiting.
    pub(super) fn new() -> Self {
        Self::lasting(PATIENCE)
    }

    /// For a given time after the first failure.
    pub(super) fn lasting(limit: Duration) -> Self {
        Self { limit, since: None, tries: 0 }
    }

    /// Waits before the next try; false if there shall be none. At least one more try is always made, at once:
    /// the failure may be no more than a connection that died while nobody looked.
    pub(super) async fn another(&mut self) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        self.tries += 1;
        if self.tries == 1 {
            return true;
        }
        if since.elapsed() >= self.limit {
            return false;
        }
        let ceiling = WAIT_MS_MAX.min(10 << self.tries.min(6));
        tokio::time::sleep(Duration::from_millis(rand::random_range(ceiling / 2..=ceiling))).await;
        true
    }
}
