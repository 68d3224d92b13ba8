//! Workers as this host hears of them: gathered in memory, written down every few seconds, all in one statement.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::heard::Heard;
use crate::domain::task::Task;
use crate::domain::worker::{WorkerNote, WorkerStatus};
use crate::domain::{Clock, TenantId, Timestamp};
use crate::engine::port::{Deed, StoreError};
use crate::engine::{Engine, Error};

/// The time between two rounds of writing down.
const ROUND: Duration = Duration::from_secs(5);
/// Rounds between two in which old workers are forgotten.
const FORGET_EVERY: u32 = 60;
/// A worker that nobody has heard of for a week is forgotten.
const KEPT_MS: i64 = 7 * 24 * 3_600_000;
/// Workers of one tenant that a host keeps in mind at once; more are served, and not listed.
const PER_TENANT_MAX: usize = 5_000;
/// Workers that a host keeps in mind at once.
const WORKERS_MAX: usize = 20_000;
/// The longest name that is listed; a worker with a longer one is served all the same.
const NAME_BYTES_MAX: usize = 200;
/// Workers that are written at once.
const NOTES_MAX: usize = 500;

type Crew = HashMap<TenantId, HashMap<String, Heard>>;

/// The workers of this host.
#[derive(Default)]
pub struct Workers {
    crew: Mutex<Crew>,
    /// One writes at a time: two notes on a worker must not be in one statement.
    writing: tokio::sync::Mutex<()>,
}

impl Workers {
    /// What kind of worker it is.
    pub fn introduce(&self, tenant: &TenantId, worker_id: &str, worker_type: &str, now: Timestamp) {
        if let Some(heard) = known(&mut self.crew(), tenant, worker_id, now) {
            heard.introduce(worker_type);
        }
    }

    /// A worker polls: it is there for as long as the answer is kept.
    pub fn arrive(
        self: &Arc<Self>,
        tenant: &TenantId,
        worker_id: &str,
        task_types: &[String],
        now: Timestamp,
    ) -> Presence {
        if let Some(heard) = known(&mut self.crew(), tenant, worker_id, now) {
            heard.polls(task_types, now);
        }
        Presence { workers: Arc::clone(self), tenant: tenant.clone(), worker_id: worker_id.to_owned() }
    }

    /// A worker did something that counts.
    pub(super) fn worked(&self, deed: &Deed<'_>) {
        if let Some(heard) = known(&mut self.crew(), deed.tenant, deed.worker_id, deed.at) {
            heard.did(deed.work, deed.at);
        }
    }

    /// A worker says goodbye.
    pub(super) fn left(&self, tenant: &TenantId, worker_id: &str, now: Timestamp) {
        if let Some(heard) = known(&mut self.crew(), tenant, worker_id, now) {
            heard.leaves(now);
        }
    }

    /// How many workers this host knows to be in a state.
    pub fn count(&self, status: WorkerStatus, now: Timestamp) -> usize {
        self.crew().values().flat_map(HashMap::values).filter(|heard| heard.status(now) == status).count()
    }

    /// Writes down what is new. What the database could not take now is kept for the next time.
    pub async fn flush(&self, engine: &Engine, now: Timestamp) -> Result<(), Error> {
        let _writing = self.writing.lock().await;
        let notes = self.take_notes(now);
        for (at, chunk) in notes.chunks(NOTES_MAX).enumerate() {
            match engine.note_workers(chunk.to_vec()).await {
                Ok(()) => {}
                Err(error @ Error::Store(StoreError::Unavailable(_))) => {
                    self.take_back(&notes[at * NOTES_MAX..]);
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes down every few seconds, and a last time at the end.
    pub async fn run(&self, engine: &Engine, clock: &dyn Clock, shutdown: CancellationToken) {
        let mut rounds: u32 = 0;
        while !shutdown.is_cancelled() {
            tokio::select! {
                () = tokio::time::sleep(ROUND) => {}
                () = shutdown.cancelled() => {}
            }
            let now = clock.now();
            rounds = rounds.wrapping_add(1);
            let mut done = self.flush(engine, now).await;
            if done.is_ok() && rounds.is_multiple_of(FORGET_EVERY) {
                done = engine.forget_workers(now.plus_millis(-KEPT_MS)).await;
            }
            if let Err(error) = done {
                metrics::counter!(crate::metrics::LOOP_ERRORS, "loop" => "workers").increment(1);
                tracing::debug!(%error, "what was heard of workers waits for its next round");
            }
        }
    }

    fn take_notes(&self, now: Timestamp) -> Vec<WorkerNote> {
        let mut notes = Vec::new();
        self.crew().retain(|tenant, workers| {
            workers.retain(|worker_id, heard| {
                notes.extend(heard.note(tenant, worker_id, now));
                !heard.over(now)
            });
            !workers.is_empty()
        });
        notes
    }

    fn take_back(&self, notes: &[WorkerNote]) {
        let mut crew = self.crew();
        for note in notes {
            if let Some(heard) = known(&mut crew, &note.tenant, &note.worker_id, note.last_seen_at) {
                heard.take_back(note);
            }
        }
    }

    fn crew(&self) -> MutexGuard<'_, Crew> {
        self.crew.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker whose poll waits.
pub struct Presence {
    workers: Arc<Workers>,
    tenant: TenantId,
    worker_id: String,
}

impl Presence {
    /// The poll is answered with these tasks.
    pub fn handed(&self, tasks: &[Task], now: Timestamp) {
        let until = tasks.iter().filter_map(|task| task.lock_expires_at).max();
        if let Some(until) = until
            && let Some(heard) = known(&mut self.workers.crew(), &self.tenant, &self.worker_id, now)
        {
            heard.handed(until, now);
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        if let Some(heard) =
            self.workers.crew().get_mut(&self.tenant).and_then(|workers| workers.get_mut(&self.worker_id))
        {
            heard.departs();
        }
    }
}

/// A worker to write on; none if there are too many.
fn known<'a>(
    crew: &'a mut Crew,
    tenant: &TenantId,
    worker_id: &str,
    now: Timestamp,
) -> Option<&'a mut Heard> {
    if worker_id.len() > NAME_BYTES_MAX {
        return None;
    }
    let there = crew.get(tenant).is_some_and(|workers| workers.contains_key(worker_id));
    if !there {
        let all: usize = crew.values().map(HashMap::len).sum();
        let of_tenant = crew.get(tenant).map_or(0, HashMap::len);
        if all >= WORKERS_MAX || of_tenant >= PER_TENANT_MAX {
            return None;
        }
        crew.entry(tenant.clone()).or_default().insert(worker_id.to_owned(), Heard::new(now));
    }
    crew.get_mut(tenant)?.get_mut(worker_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::port::Work;

    #[test]
    fn what_is_heard_is_noted_once_and_the_silent_are_let_go() {
        let (workers, tenant) = (Arc::new(Workers::default()), TenantId::default());
        let at = Timestamp::from_millis;
        let types = ["a-*".to_owned(), "b".to_owned()];
        let presence = workers.arrive(&tenant, "w", &types, at(1_000));
        workers.introduce(&tenant, "w", "n8n", at(1_500));
        drop(presence);
        drop(workers.arrive(&tenant, "w", &types, at(2_000)));
        let deed = Deed { tenant: &tenant, worker_id: "w", work: Work::Completed, at: at(3_000) };
        workers.worked(&deed);
        let notes = workers.take_notes(at(4_000));
        assert_eq!(notes.len(), 1);
        let note = &notes[0];
        assert_eq!((note.polls, note.tasks_completed, note.tasks_failed), (2, 1, 0));
        assert_eq!((note.last_poll_at, note.last_seen_at), (Some(at(2_000)), at(3_000)));
        assert_eq!((note.status, note.worker_type.as_deref()), (WorkerStatus::Active, Some("n8n")));
        assert_eq!(note.task_types.as_deref(), Some(&types[..]));
        assert!(workers.take_notes(at(5_000)).is_empty(), "nothing is new");
        workers.take_back(&notes);
        assert_eq!(workers.take_notes(at(5_000))[0].polls, 2);

        let last = workers.take_notes(at(500_000));
        assert_eq!(last[0].status, WorkerStatus::Dead);
        assert!(workers.crew().is_empty());
    }

    #[test]
    fn a_parked_worker_is_not_silent_and_one_that_leaves_is_dead() {
        let (workers, tenant) = (Arc::new(Workers::default()), TenantId::default());
        let at = Timestamp::from_millis;
        let presence = workers.arrive(&tenant, "w", &[], at(0));
        workers.take_notes(at(0));
        let note = workers.take_notes(at(400_000)).remove(0);
        assert_eq!((note.status, note.last_seen_at), (WorkerStatus::Idle, at(400_000)));
        workers.left(&tenant, "w", at(400_001));
        assert_eq!(workers.count(WorkerStatus::Dead, at(400_001)), 1);
        drop(presence);
        assert_eq!(workers.take_notes(at(400_002))[0].status, WorkerStatus::Dead);
        assert!(workers.crew().is_empty());
    }

    #[test]
    fn there_is_a_bound_for_a_tenant() {
        let workers = Arc::new(Workers::default());
        let (one, other) = (TenantId::default(), "other".parse().unwrap());
        for n in 0..PER_TENANT_MAX + 10 {
            drop(workers.arrive(&one, &format!("w{n}"), &[], Timestamp::default()));
        }
        drop(workers.arrive(&other, "w", &[], Timestamp::default()));
        assert_eq!(workers.crew().values().map(HashMap::len).sum::<usize>(), PER_TENANT_MAX + 1);
    }
}
