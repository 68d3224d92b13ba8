//! Hints of other hosts, handed to the hub.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::engine::port::{Announcer, Hint, Store};

/// The least time between two rounds after a lost connection.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);

/// Listens until the shutdown.
pub async fn run(store: &dyn Store, engine: &Engine, announcer: &dyn Announcer, shutdown: CancellationToken) {
    loop {
        let hints = tokio::select! {
            hints = store.next_hints() => hints,
            () = shutdown.cancelled() => return,
        };
        // First what this host does not know, then whom it wakes: they ask again at once.
        engine.heard(&hints);
        announcer.announce(&hints);
        if hints.is_empty() || hints.contains(&Hint::Everything) {
            tokio::time::sleep(RECONNECT_PAUSE).await;
        }
    }
}
