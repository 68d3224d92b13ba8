//! Batches are carried out in the background, a chunk at a time. What a chunk does may be done twice, so a host that
//! finds one whose host has died simply goes on with it.

use std::sync::Arc;

use super::port::{Verdict, Write, WriteSet};
use super::{Engine, Error, Refused};
use crate::domain::batch::Batch;
use crate::domain::id::fresh;
use crate::domain::{TaskId, TenantId};

/// Tasks that are changed before it is written down how far the batch is.
const CHUNK_TASKS: usize = 50;
/// How long a chunk may take before another host goes on.
const LEASE_MS: i64 = 60_000;
/// Batches that one look takes up.
const RESUMED_MAX: u32 = 16;

impl Engine {
    /// Begins a batch that sets the attempts of many tasks.
    pub async fn begin_batch(
        self: &Arc<Self>,
        tenant: &TenantId,
        retries: i32,
        task_ids: Vec<TaskId>,
    ) -> Result<Batch, Error> {
        let now = self.parts.clock.now();
        let batch = Batch {
            id: fresh(),
            tenant: tenant.clone(),
            kind: "set-external-task-retries".into(),
            retries,
            task_ids,
            done: 0,
            failed: 0,
            created_at: now,
            finished_at: None,
            due_at: Some(now.plus_millis(LEASE_MS)),
        };
        self.keep_batch(&batch).await?;
        self.carry_on(batch.clone());
        Ok(batch)
    }

    /// Goes on with batches whose host has died.
    pub async fn resume_batches(self: &Arc<Self>) -> Result<(), Error> {
        let now = self.parts.clock.now();
        for mut batch in self.parts.store.due_batches(now, RESUMED_MAX).await? {
            batch.due_at = Some(now.plus_millis(LEASE_MS));
            self.keep_batch(&batch).await?;
            self.carry_on(batch);
        }
        Ok(())
    }

    fn carry_on(self: &Arc<Self>, batch: Batch) {
        let engine = Arc::clone(self);
        // Nobody waits for it, nor does a host that stops: another one goes on when the lease is over.
        tokio::spawn(async move {
            let id = batch.id;
            if let Err(error) = engine.run_batch(batch).await {
                tracing::warn!(%id, %error, "a batch has stopped; it goes on when its lease is over");
            }
        });
    }

    async fn run_batch(self: &Arc<Self>, mut batch: Batch) -> Result<(), Error> {
        loop {
            let begun = usize::try_from(batch.done).unwrap_or_default();
            let chunk: Vec<TaskId> = batch.task_ids.iter().skip(begun).take(CHUNK_TASKS).copied().collect();
            for id in &chunk {
                if let Err(error) = self.set_retries(&batch.tenant, *id, batch.retries).await {
                    // The database is away, or busy: not the task's fault.
                    if let Refused::Other(error @ (Error::Store(_) | Error::Busy { .. })) = error {
                        return Err(error);
                    }
                    tracing::debug!(%id, %error, "a task of a batch cannot be changed");
                    batch.failed += 1;
                }
                batch.done += 1;
            }
            let now = self.parts.clock.now();
            let over = chunk.len() < CHUNK_TASKS;
            batch.finished_at = over.then_some(now);
            batch.due_at = (!over).then(|| now.plus_millis(LEASE_MS));
            self.keep_batch(&batch).await?;
            if over {
                return Ok(());
            }
        }
    }

    async fn keep_batch(&self, batch: &Batch) -> Result<(), Error> {
        let set = WriteSet { writes: vec![Write::UpsertBatch(batch.clone())], ..WriteSet::default() };
        match self.committer.commit(set).await? {
            Verdict::Refused(reason) => {
                Err(Error::unprocessable("data_refused", format!("the database cannot store this: {reason}")))
            }
            _ => Ok(()),
        }
    }
}
