//! Who has been slow lately, or has done harm: the next call of such a plugin begins in a lane of its kind, so that it does
//! not hold up a thread that serves requests until it turns out to be so again.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use crate::domain::{Digest, TenantId};

/// Good calls that must come before a plugin is trusted again: so many for each bad one,
const GOOD_FOR_EACH_BAD: u32 = 16;
/// and at most so many.
const GOOD_MAX: u32 = 256;

/// Plugins that are remembered; what is too many is forgotten, and found out again.
const ENTRIES_MAX: usize = 4_096;

/// Whose calls: a plugin may be bad for one tenant only, by what it is told to do.
pub(super) type Key = (TenantId, Digest);

/// What is remembered. Every call looks at it, also on threads that the kernel may stop at any place for long: to look
/// takes no lock that another thread could wait for.
#[derive(Default)]
pub(super) struct Lately {
    /// How many good calls each one must still make.
    bad: Mutex<HashMap<Key, u32>>,
    /// The same without the numbers.
    names: ArcSwap<HashSet<Key>>,
}

impl Lately {
    /// Whether the next call is expected to be bad.
    pub(super) fn is_bad(&self, key: &Key) -> bool {
        let names = self.names.load();
        // The usual case, on every call: nobody is.
        !names.is_empty() && names.contains(key)
    }

    /// Takes note of a call.
    pub(super) fn record(&self, key: &Key, bad: bool) {
        if !bad && !self.is_bad(key) {
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
        if map.contains_key(key) != self.is_bad(key) {
            self.names.store(Arc::new(map.keys().cloned().collect()));
        }
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
