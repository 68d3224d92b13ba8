//! How much may be under way at once: a slow or dead receiver must not hold up the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::TenantId;

/// Requests under way to one host.
const PER_HOST_MAX: usize = 16;
/// Requests under way of one tenant.
const PER_TENANT_MAX: usize = 64;
/// Requests under way on this node.
const ALL_MAX: usize = 256;

/// Counts what is under way.
#[derive(Default)]
pub(super) struct Permits {
    under_way: Mutex<HashMap<String, usize>>,
}

/// The right to send one request; ends when it is dropped.
pub(super) struct Permit {
    permits: Arc<Permits>,
    names: [String; 3],
}

impl Permits {
    /// A permit, unless too much is under way already.
    pub(super) fn take(self: &Arc<Self>, tenant: &TenantId, host: &str) -> Option<Permit> {
        // The tenant of a host cannot be a host: a name of a tenant has no slash.
        let names = [format!("host/{tenant}/{host}"), format!("tenant/{tenant}"), "all".to_owned()];
        let mut under_way = self.lock();
        let mut limits = names.iter().zip([PER_HOST_MAX, PER_TENANT_MAX, ALL_MAX]);
        if limits.any(|(name, max)| under_way.get(name).is_some_and(|count| *count >= max)) {
            return None;
        }
        for name in &names {
            *under_way.entry(name.clone()).or_default() += 1;
        }
        Some(Permit { permits: Arc::clone(self), names })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut under_way = self.permits.lock();
        for name in &self.names {
            match under_way.get_mut(name) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(under_way.remove(name)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_host_does_not_take_all_and_nothing_is_left_behind() {
        let permits = Arc::new(Permits::default());
        let (one, two): (TenantId, TenantId) = ("one".parse().unwrap(), "two".parse().unwrap());
        let slow: Vec<_> = (0..PER_HOST_MAX).map(|_| permits.take(&one, "slow").unwrap()).collect();
        assert!(permits.take(&one, "slow").is_none());
        assert!(permits.take(&two, "slow").is_some(), "another tenant's requests have places of their own");
        let others: Vec<_> =
            (PER_HOST_MAX..PER_TENANT_MAX).map(|n| permits.take(&one, &format!("h{n}")).unwrap()).collect();
        assert!(permits.take(&one, "other").is_none());
        assert!(permits.take(&two, "other").is_some());
        drop((slow, others));
        assert!(permits.lock().is_empty());
    }
}
