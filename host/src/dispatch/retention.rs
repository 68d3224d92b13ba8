//! Removes what is older than an operator wants to keep, in chunks.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::backoff;
use crate::domain::{Clock, Timestamp};
use crate::engine::{Engine, Error};

/// The time between two rounds.
const ROUND: Duration = Duration::from_secs(60);

/// How long things are kept, as a rule after their instance ended; for ever if absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct RetentionOptions {
    /// Instances with everything of theirs.
    pub instances_after: Option<Duration>,
    /// Journals alone; batches go with them, by the time that they were over.
    pub journals_after: Option<Duration>,
    /// Waits for events, by the time that they ended.
    pub waits_after: Option<Duration>,
    /// Events that were refused, by the time that they came.
    pub rejected_after: Option<Duration>,
}

impl RetentionOptions {
    /// Before when something is old, if it is kept so long.
    pub(super) fn before(now: Timestamp, kept: Option<Duration>) -> Option<Timestamp> {
        kept.map(|kept| now.plus_millis(-i64::try_from(kept.as_millis()).unwrap_or(i64::MAX)))
    }
}

/// Removes what is old, every minute or so, until the shutdown.
pub async fn run(engine: &Engine, clock: &dyn Clock, options: RetentionOptions, shutdown: CancellationToken) {
    if options.instances_after.is_none() && options.journals_after.is_none() {
        return;
    }
    loop {
        tokio::select! {
            () = tokio::time::sleep(backoff::jittered(ROUND)) => {}
            () = shutdown.cancelled() => return,
        }
        if let Err(error) = run_once(engine, clock.now(), options, &shutdown).await {
            metrics::counter!(crate::metrics::LOOP_ERRORS, "loop" => "retention").increment(1);
            tracing::warn!(%error, "retention waits for its next round");
        }
    }
}

/// Removes all that is old now; how many instances and journals it was.
pub async fn run_once(
    engine: &Engine,
    now: Timestamp,
    options: RetentionOptions,
    shutdown: &CancellationToken,
) -> Result<usize, Error> {
    let instances_before = RetentionOptions::before(now, options.instances_after);
    let journals_before = RetentionOptions::before(now, options.journals_after);
    if let Some(before) = journals_before {
        engine.forget_batches(before).await?;
    }
    let mut removed = 0;
    while !shutdown.is_cancelled() {
        let chunk = engine.prune(instances_before, journals_before).await?;
        if chunk == 0 {
            break;
        }
        removed += chunk;
        metrics::counter!(crate::metrics::RETENTION_REMOVED).increment(chunk as u64);
    }
    Ok(removed)
}
