//! Who has been slow lately, or has done harm: the next call of such a plugin begins in a lane of its kind, so that it does
//! not hold up a thread that serves requests until it turns out to be so again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::domain::{Digest, TenantId};

/// Good calls that must come before a plugin is trusted again: so many for each bad one,
const GOOD_FOR_EACH_BAD: u32 = 16;
/// and at most so many.
const GOOD_MAX: u32 = 256;

/// Plugins that are remembered; what is too many is forgotten, and found out again.
const ENTRIES_MAX: usize = 4_096;

/// Whose calls: a plugin may be bad for one tenant only, by what it is told to do.
pub(super) type Key = (TenantId, Digest);

/// What is remembered.
#[derive(Default)]
pub(super) struct Lately {
    any: AtomicBool,
    bad: Mutex<HashMap<Key, u32>>,
}

impl Lately {
    /// Whether the next call is expected to be bad.
    pub(super) fn is_bad(&self, key: &Key) -> bool {
        // The usual case, on every call: nobody is.
        self.any.load(Ordering::Relaxed)
            && self.bad.lock().unwrap_or_else(PoisonError::into_inner).contains_key(key)
    }

    /// Takes note of a call.
    pub(super) fn record(&self, key: &Key, bad: bool) {
        if !bad && !self.any.load(Ordering::Relaxed) {
            return;
        }
        let mut map = self.bad.lock().unwrap_or_else(PoisonError::into_inner);
        if bad {
            if map.len() >= ENTRIES_MAX && !map.contains_key(key) {
                map.clear();
            }
            let left = map.entry(key.clone()).or_default();
            *left = (*left + GOOD_FOR_EACH_BAD).min(GOOD_MAX);
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
    fn a_bad_plugin_is_trusted_again_when_it_has_been_good_for_long() {
        let lately = Lately::default();
        let key: Key = (TenantId::default(), Digest::of(b"slow"));
        lately.record(&key, false);
        assert!(!lately.is_bad(&key));
        lately.record(&key, true);
        for _ in 0..GOOD_FOR_EACH_BAD {
            assert!(lately.is_bad(&key));
            assert!(
                !lately.is_bad(&("other".parse().unwrap(), key.1.clone())),
                "another tenant's calls are not"
            );
            lately.record(&key, false);
        }
        assert!(!lately.is_bad(&key));
        for _ in 0..1_000 {
            lately.record(&key, true);
        }
        for _ in 0..GOOD_MAX {
            lately.record(&key, false);
        }
        assert!(!lately.is_bad(&key), "however bad it was");
    }
}
