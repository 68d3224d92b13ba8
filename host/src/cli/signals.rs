//! Interrupt and SIGTERM: the first asks for an orderly end, the second ends at once.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::Error;

/// The exit status after a second signal: as a shell shows a process that an interrupt ended.
const AT_ONCE: i32 = 130;

/// A token that is cancelled by the first signal. From this call on, signals do not kill the process by themselves.
pub(super) fn watch() -> Result<CancellationToken, Error> {
    let failed = |error| Error::unavailable(format!("signals cannot be watched: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if told.is_cancelled() {
                tracing::warn!("a second signal: ending at once, without draining");
                std::process::exit(AT_ONCE);
            }
            told.cancel();
        }
    });
    Ok(stop)
}
