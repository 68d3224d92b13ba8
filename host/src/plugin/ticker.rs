//! The ticker: guests that compute yield at its ticks, which come often while there are guests and seldom else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wasmtime::Engine;

use super::Error;

/// The time between two ticks while calls run: what one call in the slow lane waits for another.
const TICK: Duration = Duration::from_millis(2);

/// The time between two while none does: what the first call may hold up a thread for.
const TICK_IDLE: Duration = Duration::from_millis(10);

/// How many calls run.
#[derive(Debug, Default)]
pub(super) struct Running(AtomicUsize);

/// One call that runs.
pub(super) struct Run(Arc<Running>);

impl Running {
    /// A call begins; it has ended when what this returns is dropped.
    pub(super) fn enter(self: Arc<Self>) -> Run {
        self.0.fetch_add(1, Ordering::Relaxed);
        Run(self)
    }

    fn tick(&self) -> Duration {
        if self.0.load(Ordering::Relaxed) == 0 { TICK_IDLE } else { TICK }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Starts the ticks. They end with the engine, which is held weakly.
pub(super) fn start(engine: &Engine) -> Result<Arc<Running>, Error> {
    let engine = engine.weak();
    let running = Arc::new(Running::default());
    let seen = running.clone();
    let ticker = std::thread::Builder::new().name("plugin-ticker".into()).spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(seen.tick());
        }
    });
    ticker
        .map(|_| running)
        .map_err(|error| Error(format!("the ticker of the WebAssembly engine does not start: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_come_often_only_while_calls_run() {
        let running = Arc::new(Running::default());
        assert_eq!(running.tick(), TICK_IDLE);
        let (one, two) = (running.clone().enter(), running.clone().enter());
        drop(one);
        assert_eq!(running.tick(), TICK);
        drop(two);
        assert_eq!(running.tick(), TICK_IDLE);
    }
}
