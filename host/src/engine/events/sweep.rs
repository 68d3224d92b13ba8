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
/// How long a refused event is shown.
const REJECTED_MS: i64 = 7 * 86_400_000;
/// How long a wait is shown after its end.
const WAITS_MS: i64 = 30 * 86_400_000;
/// Waits that are forgotten in one transaction.
const WAITS_MAX: u32 = 500;

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

    /// Forgets refused events and waits that are old.
    pub async fn forget_events(&self, now: Timestamp) -> Result<(), Error> {
        let rejected = RejectedForgotten {
            per_tenant_max: REJECTED_PER_TENANT_MAX,
            created_before: now.plus_millis(-REJECTED_MS),
        };
        let waits = WaitsForgotten { ended_before: now.plus_millis(-WAITS_MS), rows_max: WAITS_MAX };
        let writes = vec![Write::ForgetRejected(rejected), Write::ForgetWaits(waits)];
        self.committer.commit(WriteSet { writes, ..WriteSet::default() }).await?;
        Ok(())
    }
}
