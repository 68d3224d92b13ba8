//! Who has been slow lately: the next call of such a plugin begins in the slow lane, so that it does not hold up a
//! thread that serves requests until it turns out to be slow again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::domain::{Digest, TenantId};

/// Calls in a row that must be quick before a slow plugin is trusted again: so many for each slow one,
const QUICK_FOR_EACH_SLOW: u32 = 16;
/// and at most so many.
const QUICK_MAX: u32 = 256;

/// Slow plugins that are remembered; what is too many is forgotten, and found out again.
const ENTRIES_MAX: usize = 4_096;

/// Whose calls: a plugin may be slow for one tenant only, by what it is told to do.
pub(super) type Key = (TenantId, Digest);

/// What is remembered.
#[derive(Default)]
pub(super) struct Pace {
    any: AtomicBool,
    slow: Mutex<HashMap<Key, u32>>,
}

impl Pace {
    /// Whether the next call is expected to be slow.
    pub(super) fn is_slow(&self, key: &Key) -> bool {
        // The usual case, on every call: nobody is slow.
        self.any.load(Ordering::Relaxed)
            && self.slow.lock().unwrap_or_else(PoisonError::into_inner).contains_key(key)
    }

    /// Takes note of a call.
    pub(super) fn record(&self, key: &Key, slow: bool) {
        if !slow && !self.any.load(Ordering::Relaxed) {
            return;
        }
        let mut map = self.slow.lock().unwrap_or_else(PoisonError::into_inner);
        if slow {
            if map.len() >= ENTRIES_MAX && !map.contains_key(key) {
                map.clear();
            }
            let left = map.entry(key.clone()).or_default();
            *left = (*left + QUICK_FOR_EACH_SLOW).min(QUICK_MAX);
        } else if let Some(left) = map.get_mut(key) {
            *left -= 1;
            if *left == 0 {
                map.remove(key);
            }
        }
        self.any.store(!map.is_empty(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_plugin_is_trusted_again_when_it_has_been_quick_for_long() {
        let pace = Pace::default();
        let key: Key = (TenantId::default(), Digest::of(b"slow"));
        pace.record(&key, false);
        assert!(!pace.is_slow(&key));
        pace.record(&key, true);
        for _ in 0..QUICK_FOR_EACH_SLOW {
            assert!(pace.is_slow(&key));
            assert!(
                !pace.is_slow(&("other".parse().unwrap(), key.1.clone())),
                "another tenant's calls are not"
            );
            pace.record(&key, false);
        }
        assert!(!pace.is_slow(&key));
        for _ in 0..1_000 {
            pace.record(&key, true);
        }
        for _ in 0..QUICK_MAX {
            pace.record(&key, false);
        }
        assert!(!pace.is_slow(&key), "however slow it was");
    }
}
