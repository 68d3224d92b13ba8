//! Schedules: workflows that the clock starts. What to do at a due time is [`plan`]'s; here it is done.
//!
//! A due time is taken by the commit that moves its schedule on, in the same transaction as the start: whoever else has
//! looked at it finds another version. The start's idempotency key has the due time in it, should a deployment set the
//! schedule back.

mod operate;
mod plan;

use std::sync::Arc;

use serde_json::{Value, json};

use self::plan::{Plan, plan};
use super::definition;
use super::draft::Draft;
use super::port::write::SchedulesWoken;
use super::port::{Guard, Hint, Verdict, Write, WriteSet};
use super::recent::Snapshot;
use super::{Engine, Error, StartRequest};
use crate::domain::definition::Workflow;
use crate::domain::schedule::Schedule;
use crate::domain::trigger::{CronTrigger, Overlap, Trigger};
use crate::domain::{ScheduleId, TenantId, Timestamp};

/// Due times of one schedule that are taken in one go; the rest are taken in the next round.
const DUE_TIMES_MAX: usize = 64;

impl Engine {
    /// A schedule is due, or may be.
    pub async fn schedule_due(self: &Arc<Self>, schedule: Schedule) -> Result<(), Error> {
        let mut row = schedule;
        for _ in 0..DUE_TIMES_MAX {
            let now = self.parts.clock.now();
            let plan = plan(&row, now, self.still_runs(&row).await?);
            let over = plan.row.due_at.is_none_or(|at| at > now);
            match self.take(&row, plan).await? {
                Some(_) if over => return Ok(()),
                Some(next) => row = next,
                None => match self.parts.store.schedule(&row.tenant, row.id).await? {
                    Some(changed) => row = changed,
                    None => return Ok(()),
                },
            }
        }
        Ok(())
    }

    /// Whether the instance that was started last has not ended, where that matters.
    async fn still_runs(&self, row: &Schedule) -> Result<bool, Error> {
        let Some(id) = row.last_instance_id.filter(|_| row.overlap != Overlap::Allow) else {
            return Ok(false);
        };
        let instance = self.parts.store.instance(&row.tenant, id).await?;
        Ok(instance.is_some_and(|instance| !instance.status.ended()))
    }

    /// Carries a plan out; the row as it is now, or none if it has changed meanwhile.
    async fn take(&self, row: &Schedule, plan: Plan) -> Result<Option<Schedule>, Error> {
        let Plan { start, row: mut next } = plan;
        next.version = row.version + 1;
        next.updated_at = self.parts.clock.now();
        let begun = match start {
            None => None,
            Some(due) => match self.begin_scheduled(row, due).await {
                Ok((set, snapshot)) => {
                    (next.last_at, next.last_instance_id, next.last_error) =
                        (Some(due), Some(snapshot.instance.id), None);
                    Some((set, snapshot))
                }
                Err(error @ (Error::Store(_) | Error::Busy { .. })) => return Err(error),
                // It would be the same at the next try: the due time is over, and the reason is shown.
                Err(error) => {
                    tracing::warn!(tenant = %row.tenant, workflow = row.workflow_key, trigger = row.trigger_id, %error,
                        "a schedule could not start its workflow");
                    next.last_error = Some(error.to_string());
                    None
                }
            },
        };
        let (mut set, snapshot) =
            begun.map_or_else(Default::default, |(set, snapshot)| (set, Some(snapshot)));
        set.guards.push(guard(row));
        set.hints.extend(next.due_at.map(|at| Hint::Due { at }));
        set.writes.push(Write::UpdateSchedule(next.clone()));
        match self.committer.commit(set).await? {
            Verdict::Applied => {
                if let Some(snapshot) = snapshot {
                    self.recent.keep_instance(snapshot);
                }
                Ok(Some(next))
            }
            Verdict::Conflict => {
                self.definitions.forget_newest(&row.tenant, &row.workflow_key);
                Ok(None)
            }
            Verdict::Started(id) => {
                next.last_instance_id = Some(id);
                self.move_on(row, next).await
            }
            // No other try would go better: the due time is over, and the reason is shown.
            Verdict::Refused(reason) => {
                (next.last_at, next.last_instance_id) = (row.last_at, row.last_instance_id);
                next.last_error = Some(format!("data_refused: {reason}"));
                self.move_on(row, next).await
            }
        }
    }

    /// Nothing is started: only the schedule moves on.
    async fn move_on(&self, row: &Schedule, next: Schedule) -> Result<Option<Schedule>, Error> {
        let hints = next.due_at.map(|at| Hint::Due { at }).into_iter().collect();
        let writes = vec![Write::UpdateSchedule(next.clone())];
        let set = WriteSet { guards: vec![guard(row)], writes, hints };
        Ok(matches!(self.committer.commit(set).await?, Verdict::Applied).then_some(next))
    }

    async fn begin_scheduled(&self, row: &Schedule, due: Timestamp) -> Result<(WriteSet, Snapshot), Error> {
        let request = StartRequest {
            tenant: row.tenant.clone(),
            workflow_key: row.workflow_key.clone(),
            version: None,
            context: row.context.clone(),
            business_key: None,
            idempotency_key: Some(format!("schedule:{}:{due}", row.id)),
            traceparent: None,
        };
        self.check_start(&request)?;
        self.begin(&request, trigger(row, due)).await
    }
}

fn guard(row: &Schedule) -> Guard {
    Guard::Schedule { tenant: row.tenant.clone(), id: row.id, version: row.version }
}

/// What `_trigger` is for an instance that the clock started: the context, the trigger and the due time.
fn trigger(row: &Schedule, due: Timestamp) -> Value {
    let mut trigger = row.context.clone();
    if let Value::Object(members) = &mut trigger {
        members.insert("trigger".into(), json!(row.trigger_id));
        members.insert("scheduledAt".into(), json!(due));
    }
    trigger
}

/// The schedules of a workflow that is being deployed, each with its first due time.
pub(super) fn of_workflow(tenant: &TenantId, workflow: &Workflow, now: Timestamp) -> Vec<Schedule> {
    let crons = workflow.triggers.iter().filter_map(|trigger| Some((&trigger.id, trigger.cron()?)));
    let schedule = |(id, cron): (&String, &CronTrigger)| {
        let next_at = definition::runs(cron, now, 1).ok().and_then(|runs| runs.first().copied());
        Schedule {
            id: ScheduleId::new(),
            tenant: tenant.clone(),
            workflow_key: workflow.key.clone(),
            workflow_version: workflow.version,
            trigger_id: id.clone(),
            cron: cron.cron.clone(),
            time_zone: cron.time_zone.clone(),
            misfire: cron.misfire,
            overlap: cron.overlap,
            context: cron.context.clone(),
            paused: false,
            next_at,
            queued_until: None,
            made_up: 0,
            last_at: None,
            last_instance_id: None,
            last_error: None,
            due_at: next_at,
            version: 0,
            created_at: now,
            updated_at: now,
        }
    };
    crons.map(schedule).collect()
}

/// An instance has ended: where due times wait for one of its workflow to end, they are looked at now.
pub(super) fn wake(draft: &mut Draft) {
    let mut crons = draft.workflow.triggers.iter().filter_map(Trigger::cron);
    if crons.any(|cron| cron.overlap == Overlap::Queue) {
        let woken = SchedulesWoken {
            tenant: draft.instance.tenant.clone(),
            workflow_key: draft.instance.workflow_key.clone(),
            at: draft.now,
        };
        draft.writes.push(Write::WakeSchedules(woken));
        draft.hints.push(Hint::Due { at: draft.now });
    }
}
