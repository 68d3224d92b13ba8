//! What was kept too long is refused; what was refused, and waits that ended long ago, are forgotten.

use crate::domain::Timestamp;
use crate::domain::incoming::{RejectedEvent, Rejection};
use crate::engine::port::events::{KeptGone, RejectedForgotten, WaitsForgotten};
use crate::engine::port::{Write, WriteSet};
use crate::engine::{Engine, Error};

/// Events that are given up in one transaction.
const GIVEN_UP_MAX: u32 = 200;
/// Refused events that are shown of one tenant.
const REJECTED_PER_TENANT_MAX: u32 = 10_000;
/// Waits that are forgotten in one transaction.
const WAITS_MAX: u32 = 5_000;

impl Engine {
    /// Gives up what was kept too long; whether there may be more.
    pub async fn give_up_kept(&self, now: Timestamp) -> Result<bool, Error> {
        let expired = self.parts.store.kept_expired(now, GIVEN_UP_MAX).await?;
        for kept in &expired {
            let row = RejectedEvent {
                execution_id: Some(kept.execution_id.to_string()),
                correlation_id: Some(kept.correlation_id.clone()),
                ..self.row(kept.tenant.clone(), &kept.source, &kept.topic, Rejection::KeptTooLong, None)
            };
            let gone = KeptGone { tenant: kept.tenant.clone(), id: kept.id };
            self.committer
                .commit(WriteSet { writes: vec![Write::DeleteKept(gone)], ..WriteSet::default() })
                .await?;
            self.note_rejected(Rejection::KeptTooLong, row).await?;
        }
        Ok(expired.len() >= GIVEN_UP_MAX as usize)
    }

    /// Forgets waits that ended and events that were refused before a time, and of the refused all but the newest.
    pub async fn forget_events(
        &self,
        waits_before: Option<Timestamp>,
        rejected_before: Option<Timestamp>,
    ) -> Result<(), Error> {
        let mut writes = vec![Write::ForgetRejected(RejectedForgotten {
            per_tenant_max: REJECTED_PER_TENANT_MAX,
            created_before: rejected_before.unwrap_or(Timestamp::from_millis(0)),
        })];
        writes
            .extend(waits_before.map(|ended_before| {
                Write::ForgetWaits(WaitsForgotten { ended_before, rows_max: WAITS_MAX })
            }));
        self.committer.commit(WriteSet { writes, ..WriteSet::default() }).await?;
        Ok(())
    }
}
