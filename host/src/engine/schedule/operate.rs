//! What an operator does with a schedule: stop it for a while, and let it go on.

use super::plan::following;
use super::{Engine, guard};
use crate::domain::schedule::Schedule;
use crate::domain::{ScheduleId, TenantId, Timestamp};
use crate::engine::Error;
use crate::engine::port::{Hint, Verdict, Write, WriteSet};

impl Engine {
    /// Stops a schedule. What it has started goes on; a repeat changes nothing.
    pub async fn pause_schedule(&self, tenant: &TenantId, id: ScheduleId) -> Result<Schedule, Error> {
        self.change_schedule(tenant, id, |row, _| {
            (!row.paused).then(|| Schedule { paused: true, due_at: None, ..row.clone() })
        })
        .await
    }

    /// Lets a schedule go on. What was due meanwhile was not missed: it was not wanted.
    pub async fn resume_schedule(&self, tenant: &TenantId, id: ScheduleId) -> Result<Schedule, Error> {
        self.change_schedule(tenant, id, |row, now| {
            let next_at = following(row, now);
            row.paused.then(|| Schedule {
                paused: false,
                next_at,
                due_at: next_at,
                queued_until: None,
                made_up: 0,
                ..row.clone()
            })
        })
        .await
    }

    async fn change_schedule(
        &self,
        tenant: &TenantId,
        id: ScheduleId,
        change: impl Fn(&Schedule, Timestamp) -> Option<Schedule>,
    ) -> Result<Schedule, Error> {
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let Some(row) = self.parts.store.schedule(tenant, id).await? else {
                let message =
                    format!("there is no schedule {id}; its workflow may have no such trigger any more");
                return Err(Error::not_found("schedule_not_found", message));
            };
            let now = self.parts.clock.now();
            let Some(mut changed) = change(&row, now) else { return Ok(row) };
            changed.version = row.version + 1;
            changed.updated_at = now;
            let set = WriteSet {
                guards: vec![guard(&row)],
                hints: changed.due_at.map(|at| Hint::Due { at }).into_iter().collect(),
                writes: vec![Write::UpdateSchedule(changed.clone())],
            };
            match self.committer.commit(set).await? {
                Verdict::Applied => return Ok(changed),
                Verdict::Refused(reason) => return Err(Error::unprocessable("data_refused", reason)),
                Verdict::Conflict | Verdict::Started(_) => {}
            }
        }
        Err(Error::Busy {
            code: "schedule_busy",
            message: format!("schedule {id} keeps changing; try again"),
        })
    }
}
