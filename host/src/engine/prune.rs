//! Retention: ended instances and their journals are removed by age, in chunks.

use super::port::write::InstanceGone;
use super::port::{Verdict, Write, WriteSet};
use super::{Engine, Error};
use crate::domain::Timestamp;
use crate::domain::batch::BatchesForgotten;

/// Instances removed in one transaction.
const CHUNK_INSTANCES_MAX: u32 = 100;

impl Engine {
    /// Removes one chunk of ended instances, and of journals, older than these times; how many instances it touched.
    /// Call it until it returns 0.
    pub async fn prune(
        &self,
        instances_before: Option<Timestamp>,
        journals_before: Option<Timestamp>,
    ) -> Result<usize, Error> {
        let mut touched = 0;
        if let Some(before) = instances_before {
            touched += self.remove(before, false, Write::DeleteInstance).await?;
        }
        if let Some(before) = journals_before {
            touched += self.remove(before, true, Write::DeleteJournal).await?;
        }
        Ok(touched)
    }

    /// Removes batches that were over before a time.
    pub async fn forget_batches(&self, finished_before: Timestamp) -> Result<(), Error> {
        let writes = vec![Write::ForgetBatches(BatchesForgotten { finished_before })];
        self.committer.commit(WriteSet { writes, ..WriteSet::default() }).await?;
        Ok(())
    }

    async fn remove(
        &self,
        before: Timestamp,
        journal_only: bool,
        write: fn(InstanceGone) -> Write,
    ) -> Result<usize, Error> {
        let ended = self.parts.store.ended_before(before, journal_only, CHUNK_INSTANCES_MAX).await?;
        if ended.is_empty() {
            return Ok(0);
        }
        let count = ended.len();
        let writes =
            ended.into_iter().map(|row| write(InstanceGone { tenant: row.tenant, instance_id: row.id }));
        let set = WriteSet { writes: writes.collect(), ..WriteSet::default() };
        match self.committer.commit(set).await? {
            Verdict::Applied => Ok(count),
            other => {
                Err(Error::unprocessable("data_refused", format!("old rows cannot be removed: {other:?}")))
            }
        }
    }
}
