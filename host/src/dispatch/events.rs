//! Looks after events from outside: gives up what was kept too long, and forgets what is old.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::retention::RetentionOptions;
use crate::domain::{Clock, Timestamp};
use crate::engine::{Engine, Error};

/// The time between two rounds.
const ROUND: Duration = Duration::from_secs(30);
/// Rounds between two looks at what is old.
const OLD_EVERY: u64 = 2;

/// Looks after events until the shutdown.
pub async fn run(engine: &Engine, clock: &dyn Clock, options: RetentionOptions, shutdown: CancellationToken) {
    for round in 1.. {
        tokio::select! {
            () = tokio::time::sleep(ROUND) => {}
            () = shutdown.cancelled() => return,
        }
        if let Err(error) = run_once(engine, clock.now(), (round % OLD_EVERY == 0).then_some(options)).await {
            metrics::counter!(crate::metrics::LOOP_ERRORS, "loop" => "events").increment(1);
            tracing::warn!(%error, "events wait for their next round");
        }
    }
}

/// One round, with a look at what is older than it is kept if `old` says how long that is.
pub async fn run_once(engine: &Engine, now: Timestamp, old: Option<RetentionOptions>) -> Result<(), Error> {
    while engine.give_up_kept(now).await? {}
    if let Some(options) = old {
        let waits_before = RetentionOptions::before(now, options.waits_after);
        let rejected_before = RetentionOptions::before(now, options.rejected_after);
        engine.forget_events(waits_before, rejected_before).await?;
    }
    Ok(())
}
