//! Looks after events from outside: gives up what was kept too long, and forgets what is old.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::domain::Clock;
use crate::engine::{Engine, Error};

/// The time between two rounds.
const ROUND: Duration = Duration::from_secs(30);
/// Rounds between two looks at what is old.
const OLD_EVERY: u64 = 10;

/// Looks after events until the shutdown.
pub async fn run(engine: &Engine, clock: &dyn Clock, shutdown: CancellationToken) {
    for round in 1.. {
        tokio::select! {
            () = tokio::time::sleep(ROUND) => {}
            () = shutdown.cancelled() => return,
        }
        if let Err(error) = run_once(engine, clock, round % OLD_EVERY == 0).await {
            metrics::counter!(crate::metrics::LOOP_ERRORS, "loop" => "events").increment(1);
            tracing::warn!(%error, "events wait for their next round");
        }
    }
}

/// One round; `old` asks for a look at what is old, too.
pub async fn run_once(engine: &Engine, clock: &dyn Clock, old: bool) -> Result<(), Error> {
    while engine.give_up_kept(clock.now()).await? {}
    if old {
        engine.forget_events(clock.now()).await?;
    }
    Ok(())
}
