//! Who may call now: one tenant's calls are bounded, so that its bad plugin cannot take every place in the pool.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::domain::plugin::Fault;
use crate::domain::{Digest, TenantId};

/// The longest wait for a place; then the call is turned away, to be tried again.
const WAIT: Duration = Duration::from_secs(30);

/// Entries kept before unused ones are dropped.
const ENTRIES_MAX: usize = 4_096;

/// Places in the pool.
pub(super) struct Permits {
    all: Arc<Semaphore>,
    tenants: Keyed<TenantId>,
    plugins: Keyed<(TenantId, Digest)>,
}

/// The right to make one call; given back when dropped.
pub(super) struct Permit {
    _held: [Option<OwnedSemaphorePermit>; 3],
}

impl Permits {
    /// So many calls at once, of all tenants.
    pub(super) fn new(calls_max: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(calls_max)),
            tenants: Keyed::default(),
            plugins: Keyed::default(),
        }
    }

    /// Waits for a place: first within the tenant's own, then in the pool.
    pub(super) async fn acquire(
        &self,
        tenant: &TenantId,
        tenant_max: usize,
        plugin: Option<(&Digest, usize)>,
    ) -> Result<Permit, Fault> {
        let of_plugin =
            plugin.map(|(digest, max)| self.plugins.semaphore((tenant.clone(), digest.clone()), max));
        let of_tenant = self.tenants.semaphore(tenant.clone(), tenant_max);
        if let Some(permit) = self.at_once(of_plugin.as_ref(), &of_tenant) {
            return Ok(permit);
        }
        let wait = async {
            // In this order for everyone: no two calls can wait for each other.
            let plugin = match of_plugin {
                Some(semaphore) => semaphore.acquire_owned().await.ok(),
                None => None,
            };
            let tenant = of_tenant.acquire_owned().await.ok();
            let all = self.all.clone().acquire_owned().await.ok();
            Permit { _held: [plugin, tenant, all] }
        };
        tokio::time::timeout(WAIT, wait).await.map_err(|_| Fault {
            code: "plugin_busy",
            message: format!(
                "tenant {tenant} waited {} s for one of its {tenant_max} places to call plugins; it will be tried again",
                WAIT.as_secs()
            ),
            transient: true,
        })
    }
}

impl Permits {
    /// A permit, if every place is free: the usual case, and it needs no timer. It overtakes nobody, as a place that
    /// is given back while someone waits for it is theirs.
    fn at_once(&self, of_plugin: Option<&Arc<Semaphore>>, of_tenant: &Arc<Semaphore>) -> Option<Permit> {
        let plugin = match of_plugin {
            Some(semaphore) => Some(semaphore.clone().try_acquire_owned().ok()?),
            None => None,
        };
        let tenant = of_tenant.clone().try_acquire_owned().ok()?;
        let all = self.all.clone().try_acquire_owned().ok()?;
        Some(Permit { _held: [plugin, Some(tenant), Some(all)] })
    }
}

/// A semaphore for each key, made when first asked for.
struct Keyed<K> {
    map: Mutex<HashMap<K, (usize, Arc<Semaphore>)>>,
}

impl<K> Default for Keyed<K> {
    fn default() -> Self {
        Self { map: Mutex::default() }
    }
}

impl<K: Eq + Hash> Keyed<K> {
    fn semaphore(&self, key: K, max: usize) -> Arc<Semaphore> {
        let max = max.clamp(1, Semaphore::MAX_PERMITS);
        let mut map = self.map.lock().unwrap_or_else(PoisonError::into_inner);
        if map.len() >= ENTRIES_MAX {
            map.retain(|_, (_, semaphore)| Arc::strong_count(semaphore) > 1);
        }
        let entry = map.entry(key).or_insert_with(|| (max, Arc::new(Semaphore::new(max))));
        if entry.0 != max {
            *entry = (max, Arc::new(Semaphore::new(max)));
        }
        entry.1.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_tenant_cannot_take_the_places_of_another() {
        let permits = Permits::new(3);
        let (one, two): (TenantId, TenantId) = ("one".parse().unwrap(), "two".parse().unwrap());
        let first = permits.acquire(&one, 2, None).await.unwrap();
        let _second = permits.acquire(&one, 2, None).await.unwrap();
        let mut third = std::pin::pin!(permits.acquire(&one, 2, None));
        assert!(futures::poll!(&mut third).is_pending(), "the tenant's two places are taken");
        assert!(
            futures::poll!(std::pin::pin!(permits.acquire(&two, 2, None))).is_ready(),
            "another tenant has its own"
        );
        drop(first);
        assert!(third.await.is_ok());
    }

    #[tokio::test]
    async fn a_plugin_can_be_bounded_beside_its_tenant() {
        let permits = Permits::new(8);
        let (tenant, digest) = (TenantId::default(), Digest::of(b"x"));
        let held = permits.acquire(&tenant, 4, Some((&digest, 1))).await.unwrap();
        assert!(futures::poll!(std::pin::pin!(permits.acquire(&tenant, 4, Some((&digest, 1))))).is_pending());
        assert!(futures::poll!(std::pin::pin!(permits.acquire(&tenant, 4, None))).is_ready());
        drop(held);
        assert!(permits.acquire(&tenant, 4, Some((&digest, 1))).await.is_ok());
    }
}
