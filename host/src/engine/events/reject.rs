//! Refused events: counted, logged with their reason, and written down for operators, within bounds.

use std::sync::Mutex;

use super::deliver::Parcel;
use crate::domain::id::fresh;
use crate::domain::incoming::{EventSource, IncomingEvent, RejectedEvent, Rejection};
use crate::domain::{TenantId, Timestamp};
use crate::engine::port::{Write, WriteSet};
use crate::engine::recent::lock;
use crate::engine::{Engine, Error};
use crate::metrics as names;

/// Refusals that one host writes down in a second; more than that are counted and logged alone.
const WRITTEN_PER_SECOND_MAX: u32 = 100;
/// The longest text of a row.
const TEXT_BYTES_MAX: usize = 500;

/// How many refusals were written down in the second that is under way.
#[derive(Default)]
pub(in crate::engine) struct Rejections {
    second: Mutex<(i64, u32)>,
}

impl Rejections {
    fn may_write(&self, now: Timestamp) -> bool {
        let mut second = lock(&self.second);
        let this = now.millis().div_euclid(1_000);
        if second.0 != this {
            *second = (this, 0);
        }
        second.1 += 1;
        second.1 <= WRITTEN_PER_SECOND_MAX
    }
}

impl Engine {
    /// Notes an event that could not even be read.
    pub async fn reject_event(
        &self,
        tenant: Option<&TenantId>,
        topic: &str,
        source: EventSource,
        rejection: Rejection,
        detail: &str,
    ) -> Result<(), Error> {
        let row =
            self.row(tenant.cloned().unwrap_or_default(), source.label(), topic, rejection, Some(detail));
        self.note_rejected(rejection, row).await
    }

    pub(super) async fn reject(
        &self,
        tenant: &TenantId,
        event: &IncomingEvent,
        rejection: Rejection,
        detail: Option<&str>,
    ) -> Result<(), Error> {
        let row = self.row(tenant.clone(), event.source.label(), &event.topic, rejection, detail);
        self.note_rejected(rejection, row).await
    }

    pub(super) async fn reject_parcel(&self, parcel: &Parcel, rejection: Rejection) -> Result<(), Error> {
        let (key, letter) = (&parcel.key, &parcel.letter);
        let row = RejectedEvent {
            execution_id: Some(key.execution_id.to_string()),
            correlation_id: Some(short(&key.correlation_id)),
            ..self.row(key.tenant.clone(), &letter.source, &letter.topic, rejection, None)
        };
        self.note_rejected(rejection, row).await
    }

    pub(super) fn row(
        &self,
        tenant: TenantId,
        source: &str,
        topic: &str,
        rejection: Rejection,
        detail: Option<&str>,
    ) -> RejectedEvent {
        RejectedEvent {
            id: fresh(),
            tenant,
            source: source.to_owned(),
            topic: short(topic),
            reason: rejection.label().to_owned(),
            detail: short(detail.unwrap_or_else(|| rejection.sentence())),
            execution_id: None,
            correlation_id: None,
            created_at: self.parts.clock.now(),
        }
    }

    pub(super) async fn note_rejected(&self, rejection: Rejection, row: RejectedEvent) -> Result<(), Error> {
        metrics::counter!(names::EVENTS_REJECTED, "reason" => rejection.label()).increment(1);
        tracing::warn!(
            tenant = %row.tenant, source = row.source, topic = row.topic, reason = row.reason,
            execution = row.execution_id, correlation = row.correlation_id, "an event was refused: {}", row.detail
        );
        if !self.rejections.may_write(row.created_at) {
            return Ok(());
        }
        let set = WriteSet { writes: vec![Write::InsertRejected(row)], ..WriteSet::default() };
        self.committer.commit(set).await?;
        Ok(())
    }
}

/// A text that a row can hold: it came from outside.
fn short(text: &str) -> String {
    let mut short: String = text.replace('\0', "\u{fffd}");
    let mut end = short.len().min(TEXT_BYTES_MAX);
    while !short.is_char_boundary(end) {
        end -= 1;
    }
    short.truncate(end);
    short
}
