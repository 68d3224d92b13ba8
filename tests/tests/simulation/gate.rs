//! The way to the store, with faults: delays, refusals, lost answers, conflicts, and the end of a host.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use stepwell::engine::port::StoreError;
use stepwell::engine::port::store::Result;

/// What a commit meets.
#[derive(PartialEq, Eq)]
pub enum Fate {
    /// It goes through.
    Passes,
    /// It is told that something has changed, although nothing has.
    Conflict,
}

/// One host's way to the store.
pub struct Gate {
    random: Mutex<StdRng>,
    calm: AtomicBool,
    dead: AtomicBool,
}

impl Gate {
    pub fn new(seed: u64) -> Self {
        let random = Mutex::new(StdRng::seed_from_u64(seed));
        Self { random, calm: AtomicBool::new(false), dead: AtomicBool::new(false) }
    }

    /// The host has crashed: nothing that it still does reaches the store, and nothing reaches it.
    pub fn die(&self) {
        self.dead.store(true, Ordering::Relaxed);
    }

    /// No more faults, only delays.
    pub fn calm(&self) {
        self.calm.store(true, Ordering::Relaxed);
    }

    /// Before anything reaches the store.
    pub async fn pass(&self) -> Result<()> {
        self.delay().await;
        if self.strikes(0.02) {
            return Err(StoreError::Unavailable("the way was cut before".into()));
        }
        Ok(())
    }

    /// After it: the host may have ended meanwhile.
    pub async fn answer(&self) {
        self.delay().await;
    }

    /// Before a commit.
    pub async fn commit(&self) -> Result<Fate> {
        self.pass().await?;
        Ok(if self.strikes(0.05) { Fate::Conflict } else { Fate::Passes })
    }

    /// After a commit: the answer may be lost, and the host with it.
    pub async fn committed(&self) -> Result<()> {
        self.delay().await;
        if self.strikes(0.04) {
            return Err(StoreError::Unknown("the way was cut after".into()));
        }
        if self.strikes(0.01) {
            self.die();
            self.delay().await;
        }
        Ok(())
    }

    /// Whether the host has crashed by itself.
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    fn strikes(&self, probability: f64) -> bool {
        !self.calm.load(Ordering::Relaxed) && self.random.lock().unwrap().random_bool(probability)
    }

    async fn delay(&self) {
        let millis = self.random.lock().unwrap().random_range(0..6);
        if millis > 0 {
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
        if self.is_dead() {
            std::future::pending::<()>().await;
        }
    }
}
