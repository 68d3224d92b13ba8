//! Batches whose host has died are taken up by another.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::SWEEP_SECONDS;
use crate::engine::Engine;

/// Looks for them every few seconds.
pub async fn run(engine: &Arc<Engine>, shutdown: CancellationToken) {
    loop {
        if let Err(error) = engine.resume_batches().await {
            tracing::warn!(%error, "batches cannot be looked for");
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(SWEEP_SECONDS)) => {}
            () = shutdown.cancelled() => return,
        }
    }
}
