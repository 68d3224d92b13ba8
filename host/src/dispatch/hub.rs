//! Where hints arrive, from this host's commits and from other hosts, and whom they wake.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tokio::sync::{Notify, broadcast, watch};

use super::alarm::Alarm;
use super::desk::Desk;
use super::withdrawals::Withdrawals;
use super::workers::Workers;
use crate::domain::{InstanceId, TenantId};
use crate::engine::Error;
use crate::engine::port::{Announcer, Deed, Handed, Hint, Seat};

/// Wakes parked polls, watchers of instances, the alarm and the loading of plugins.
pub struct Hub {
    desk: OnceLock<Weak<Desk>>,
    alarm: Arc<Alarm>,
    plugins: Notify,
    topics: Notify,
    watches: Mutex<HashMap<Watched, watch::Sender<u64>>>,
    watches_max: usize,
    workers: Arc<Workers>,
    withdrawals: Arc<Withdrawals>,
    bell: broadcast::Sender<Option<(TenantId, String)>>,
}

/// Announcements that one who listens may be behind.
const BELL_BACKLOG: usize = 256;

type Watched = (TenantId, InstanceId);

impl Hub {
    /// A hub that lets so many instances be watched at once, and half as many workers of one tenant wait.
    pub fn new(alarm: Arc<Alarm>, watches_max: usize) -> Arc<Self> {
        Arc::new(Self {
            workers: Arc::default(),
            withdrawals: Withdrawals::new(watches_max, watches_max.div_ceil(2)),
            desk: OnceLock::new(),
            alarm,
            plugins: Notify::new(),
            topics: Notify::new(),
            watches: Mutex::default(),
            watches_max,
            bell: broadcast::Sender::new(BELL_BACKLOG),
        })
    }

    /// The desk gives tasks back through the engine, which tells this hub: so the hub learns of the desk last.
    pub(crate) fn attach(&self, desk: &Arc<Desk>) {
        let _ = self.desk.set(Arc::downgrade(desk));
    }

    /// The alarm of this host.
    pub fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// What this host hears of workers.
    pub fn workers(&self) -> &Arc<Workers> {
        &self.workers
    }

    /// Workers that wait to hear what was withdrawn.
    pub fn withdrawals(&self) -> &Arc<Withdrawals> {
        &self.withdrawals
    }

    /// Waits until a component was stored, by this host or another.
    pub async fn plugins_changed(&self) {
        self.plugins.notified().await;
    }

    /// Waits until a workflow names a topic that none did before, on this host or another. One listener is woken.
    pub async fn topics_changed(&self) {
        self.topics.notified().await;
    }

    /// Hears of tasks that can be claimed, by tenant and type; of all at once if there is no telling. For polls with
    /// filters, which the desk does not know. Listen first, then ask the database.
    pub fn listen(&self) -> broadcast::Receiver<Option<(TenantId, String)>> {
        self.bell.subscribe()
    }

    fn ring(&self, tasks: Option<(&TenantId, &str)>) {
        if self.bell.receiver_count() > 0 {
            let _ = self.bell.send(tasks.map(|(tenant, task_type)| (tenant.clone(), task_type.to_owned())));
        }
    }

    /// Watches an instance. Watch first, then read it: then no change is missed.
    pub fn watch(self: &Arc<Self>, tenant: &TenantId, id: InstanceId) -> Result<Watch, Error> {
        let watched = (tenant.clone(), id);
        let mut watches = self.watches();
        let changes = match watches.get(&watched) {
            Some(sender) => sender.subscribe(),
            None if watches.len() >= self.watches_max => {
                return Err(Error::Busy {
                    code: "too_many_watches",
                    message: format!("{} instances are watched on this host; try again later", watches.len()),
                });
            }
            None => watches.entry(watched.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe(),
        };
        drop(watches);
        Ok(Watch { hub: Arc::clone(self), watched, changes })
    }

    fn watches(&self) -> MutexGuard<'_, HashMap<Watched, watch::Sender<u64>>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, hint: &Hint) {
        match hint {
            Hint::Tasks { tenant, task_type, count } => {
                self.ring(Some((tenant, task_type)));
                if let Some(desk) = self.desk.get().and_then(Weak::upgrade) {
                    desk.available(tenant, task_type, *count);
                }
            }
            Hint::Instance { tenant, id } => {
                if let Some(sender) = self.watches().get(&(tenant.clone(), *id)) {
                    sender.send_modify(bump);
                }
            }
            Hint::Withdrawn { tenant } => self.withdrawals.tell(tenant),
            Hint::Due { at } => self.alarm.not_later_than(*at),
            Hint::Plugins => self.plugins.notify_one(),
            Hint::Topics => self.topics.notify_one(),
            Hint::Everything => {
                self.ring(None);
                if let Some(desk) = self.desk.get().and_then(Weak::upgrade) {
                    desk.ask_all();
                }
                for sender in self.watches().values() {
                    sender.send_modify(bump);
                }
                self.withdrawals.tell_all();
                self.alarm.now();
                self.plugins.notify_one();
                self.topics.notify_one();
            }
        }
    }
}

impl Announcer for Hub {
    fn announce(&self, hints: &[Hint]) {
        for hint in hints {
            self.tell(hint);
        }
    }

    fn reserve(&self, tenant: &TenantId, task_type: &str) -> Option<Seat> {
        self.desk.get().and_then(Weak::upgrade)?.reserve(tenant, task_type)
    }

    fn hand_over(&self, seat: Seat, handed: Handed) {
        if let Some(desk) = self.desk.get().and_then(Weak::upgrade) {
            desk.hand_over(seat, handed);
        }
    }

    fn worked(&self, deed: &Deed<'_>) {
        self.workers.worked(deed);
    }
}

/// Interest in one instance; it ends when this is dropped.
pub struct Watch {
    hub: Arc<Hub>,
    watched: Watched,
    changes: watch::Receiver<u64>,
}

impl Watch {
    /// Waits until the instance changed since the last call.
    pub async fn changed(&mut self) {
        if self.changes.changed().await.is_err() {
            // The sender lives as long as a receiver does; should it be gone, the caller's own sweep goes on.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watches = self.hub.watches();
        // This receiver still counts.
        if watches.get(&self.watched).is_some_and(|sender| sender.receiver_count() <= 1) {
            watches.remove(&self.watched);
        }
    }
}

fn bump(count: &mut u64) {
    *count = count.wrapping_add(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_watch_sees_changes_and_leaves_nothing_behind() {
        let hub = Hub::new(Arc::default(), 1);
        let (tenant, id) = (TenantId::default(), InstanceId::new());
        let mut first = hub.watch(&tenant, id).unwrap();
        let second = hub.watch(&tenant, id).unwrap();
        assert!(matches!(hub.watch(&tenant, InstanceId::new()), Err(Error::Busy { .. })));
        hub.announce(&[Hint::Instance { tenant: tenant.clone(), id }]);
        first.changed().await;
        drop(first);
        assert_eq!(hub.watches().len(), 1);
        drop(second);
        assert_eq!(hub.watches().len(), 0);
    }
}
