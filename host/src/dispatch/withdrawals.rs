//! Workers that wait to hear which of their tasks were withdrawn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::domain::TenantId;
use crate::engine::Error;

/// Those who wait, by tenant.
pub struct Withdrawals {
    waiting: Mutex<HashMap<TenantId, watch::Sender<u64>>>,
    waiting_max: usize,
    waiting_per_tenant_max: usize,
}

impl Withdrawals {
    /// Lets so many wait at once, in all and of one tenant.
    pub(super) fn new(waiting_max: usize, waiting_per_tenant_max: usize) -> Arc<Self> {
        Arc::new(Self { waiting: Mutex::default(), waiting_max, waiting_per_tenant_max })
    }

    /// Waits at the door. Wait first, then look: then nothing is missed.
    pub fn listen(self: &Arc<Self>, tenant: &TenantId) -> Result<Listener, Error> {
        let mut waiting = self.waiting();
        let all: usize = waiting.values().map(watch::Sender::receiver_count).sum();
        let of_tenant = waiting.get(tenant).map_or(0, watch::Sender::receiver_count);
        if all >= self.waiting_max || of_tenant >= self.waiting_per_tenant_max {
            return Err(Error::Busy {
                code: "too_many_parked_polls",
                message: format!("{all} workers wait for cancellations on this host; try again later"),
            });
        }
        let changes = waiting.entry(tenant.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe();
        drop(waiting);
        Ok(Listener { withdrawals: Arc::clone(self), tenant: tenant.clone(), changes })
    }

    /// Tasks of a tenant may have been withdrawn.
    pub(super) fn tell(&self, tenant: &TenantId) {
        if let Some(sender) = self.waiting().get(tenant) {
            sender.send_modify(bump);
        }
    }

    /// Anything may have happened.
    pub(super) fn tell_all(&self) {
        self.waiting().values().for_each(|sender| sender.send_modify(bump));
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<TenantId, watch::Sender<u64>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who waits; it ends when this is dropped.
pub struct Listener {
    withdrawals: Arc<Withdrawals>,
    tenant: TenantId,
    changes: watch::Receiver<u64>,
}

impl Listener {
    /// Waits until something may have been withdrawn since the last call.
    pub async fn changed(&mut self) {
        if self.changes.changed().await.is_err() {
            // The sender lives as long as a receiver does; should it be gone, the caller's own sweep goes on.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut waiting = self.withdrawals.waiting();
        // This receiver still counts.
        if waiting.get(&self.tenant).is_some_and(|sender| sender.receiver_count() <= 1) {
            waiting.remove(&self.tenant);
        }
    }
}

fn bump(count: &mut u64) {
    *count = count.wrapping_add(1);
}
