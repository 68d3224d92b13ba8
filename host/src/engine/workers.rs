//! What hosts have heard of workers goes into the database in company of whatever else is committed, and a worker that
//! says goodbye gives back what it holds.

use std::sync::Arc;

use super::port::write::WorkersForgotten;
use super::port::{Verdict, Write, WriteSet};
use super::{Engine, Error};
use crate::domain::task::Holder;
use crate::domain::worker::WorkerNote;
use crate::domain::{TenantId, Timestamp};

/// Tasks given back at once.
const GIVEN_BACK_MAX: u32 = 200;
/// Rounds of giving back: more than any worker holds.
const ROUNDS_MAX: u32 = 500;
/// Workers of one tenant that are remembered.
const WORKERS_PER_TENANT_MAX: u32 = 10_000;

impl Engine {
    /// Adds what was heard of workers to what is known of them.
    pub async fn note_workers(&self, notes: Vec<WorkerNote>) -> Result<(), Error> {
        self.write_workers(notes.into_iter().map(Write::NoteWorker).collect()).await
    }

    /// Forgets workers that nobody has heard of since a time, and the most silent ones of a tenant that has too many.
    pub async fn forget_workers(&self, seen_before: Timestamp) -> Result<(), Error> {
        let per_tenant_max = WORKERS_PER_TENANT_MAX;
        self.write_workers(vec![Write::ForgetWorkers(WorkersForgotten { seen_before, per_tenant_max })]).await
    }

    /// Gives back every task that a worker holds; how many there were. No attempt is spent.
    pub async fn give_back_all(self: &Arc<Self>, tenant: &TenantId, worker_id: &str) -> Result<usize, Error> {
        let holder = Holder { worker_id: Some(worker_id.to_owned()), lock_token: None };
        let mut given = 0;
        for _ in 0..ROUNDS_MAX {
            let held = self.parts.store.held_by(tenant, worker_id, GIVEN_BACK_MAX).await?;
            let all = held.iter().map(|id| self.unlock(tenant, *id, &holder));
            let done = futures::future::join_all(all).await;
            // One that was reported, or went to another worker, meanwhile is no longer this one's.
            let freed = done.iter().filter(|done| done.is_ok()).count();
            given += freed;
            if held.len() < GIVEN_BACK_MAX as usize || freed == 0 {
                break;
            }
        }
        Ok(given)
    }

    async fn write_workers(&self, writes: Vec<Write>) -> Result<(), Error> {
        match self.committer.commit(WriteSet { writes, ..WriteSet::default() }).await? {
            Verdict::Refused(reason) => {
                Err(Error::unprocessable("data_refused", format!("workers cannot be noted: {reason}")))
            }
            _ => Ok(()),
        }
    }
}
