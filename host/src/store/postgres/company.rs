//! Whether other hosts use the database: a host that is alone need not tell anybody anything.
//!
//! Every host says that it is there when it begins, and every few seconds. Until it has been quiet for a
//! while, others are believed to be there. A host that is wrong about it costs latency, as any lost hint does.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a host says that it is there.
pub(super) const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// After so long without a word from anybody else a host takes itself for the only one.
const SILENCE: Duration = Duration::from_secs(12);

/// What is known of other hosts.
pub(super) struct Company {
    heard_at: Mutex<Instant>,
}

impl Default for Company {
    fn default() -> Self {
        Self { heard_at: Mutex::new(Instant::now()) }
    }
}

impl Company {
    /// Another host spoke, or may have spoken.
    pub(super) fn heard(&self) {
        *self.heard_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether nobody would listen.
    pub(super) fn absent(&self) -> bool {
        self.heard_at.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > SILENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_believed_in_until_they_were_silent_for_long() {
        let company = Company::default();
        assert!(!company.absent(), "a host that has just begun does not know");
        *company.heard_at.lock().unwrap() = Instant::now().checked_sub(SILENCE * 2).unwrap();
        assert!(company.absent());
        company.heard();
        assert!(!company.absent());
    }
}
