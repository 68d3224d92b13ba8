//! Workers report: complete and fail.

use std::sync::Arc;

use serde_json::Value;

use super::change::{self, Change};
use crate::domain::json::canonical_bytes;
use crate::domain::task::{Holder, Task};
use crate::domain::variable::Patch;
use crate::domain::{TaskId, TenantId};
use crate::engine::mailbox::Taken;
use crate::engine::port::{Deed, Guard, Hint, Verdict, Work, Write, WriteSet};
use crate::engine::signal::Signal;
use crate::engine::{Engine, Error, WorkerFailure, record};
use crate::metrics as names;

impl Engine {
    /// Completes a task; a repeat after a lost answer gives the same answer. The answer is the task's row.
    pub async fn complete(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        holder: &Holder,
        output: Value,
    ) -> Result<Task, Error> {
        self.check_payload("output", &output)?;
        self.change_task(tenant, id, Some(names::TASKS_COMPLETED), |task, now| {
            change::complete(task, holder, output.clone(), now)
        })
        .await
    }

    /// Fails a task: it is offered again, or is a dead letter and its step is told.
    pub async fn fail(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        holder: &Holder,
        failure: WorkerFailure,
    ) -> Result<Task, Error> {
        let words = [Some(&failure.message), failure.details.as_ref(), failure.code.as_ref()];
        let bytes: usize = words.into_iter().flatten().map(String::len).sum();
        self.check_bytes("failure", bytes)?;
        self.change_task(tenant, id, Some(names::TASKS_FAILED), |task, now| {
            change::fail(task, holder, &failure, now)
        })
        .await
    }

    /// Reads a task, applies a rule to it, and commits what comes of it; again if the row has changed in between.
    pub(super) async fn change_task(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        counter: Option<&'static str>,
        rule: impl Fn(&Task, crate::domain::Timestamp) -> Result<Change, Error>,
    ) -> Result<Task, Error> {
        self.crowd.seen(tenant);
        // What this host handed out it need not read. Memory counts only if a commit confirms it.
        if let Some(task) = self.recent.take_task(tenant, id)
            && let Ok(change @ (Change::Ended(..) | Change::Offered(..) | Change::Early(_))) =
                rule(&task, self.parts.clock.now())
            && let Some(written) = self.apply_change(tenant, &task, change, counter).await?
        {
            return Ok(written);
        }
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let task = self.task(tenant, id).await?;
            match rule(&task, self.parts.clock.now())? {
                Change::Repeat => return Ok(task),
                change => {
                    if let Some(written) = self.apply_change(tenant, &task, change, counter).await? {
                        return Ok(written);
                    }
                }
            }
        }
        Err(Error::Busy { code: "task_busy", message: format!("task {id} keeps changing; try again") })
    }

    /// Commits a change of a task; none if the row has changed in between.
    async fn apply_change(
        self: &Arc<Self>,
        tenant: &TenantId,
        task: &Task,
        change: Change,
        counter: Option<&'static str>,
    ) -> Result<Option<Task>, Error> {
        let now = self.parts.clock.now();
        let (written, next) = match change {
            Change::Repeat => return Ok(None),
            Change::Ended(next, event) => {
                let signal = Signal::TaskEnded {
                    task: next.clone(),
                    read_version: task.version,
                    event,
                    patch: Patch::default(),
                };
                let taken = self.send(tenant, task.workflow_instance_id, signal).await?;
                (matches!(taken, Taken::Done), next)
            }
            Change::Offered(next, note) => {
                let hints = availability(&next, now);
                let line = record::task_retry(&next, now, note);
                (self.write_task(task, &next, vec![line], hints).await?, next)
            }
            Change::Early(next) => {
                let hints = next.due_at.map(|at| Hint::Due { at }).into_iter().collect();
                (self.write_task(task, &next, Vec::new(), hints).await?, next)
            }
        };
        if !written {
            return Ok(None);
        }
        if let Some(counter) = counter {
            metrics::counter!(counter, "task_type" => next.task_type.clone()).increment(1);
            self.credit(task, counter, now);
        }
        Ok(Some(*next))
    }

    /// The worker that held the task has done its part.
    pub(super) fn credit(&self, task: &Task, counter: &str, at: crate::domain::Timestamp) {
        let work = if counter == names::TASKS_COMPLETED { Work::Completed } else { Work::Failed };
        if let Some(worker_id) = &task.worker_id {
            self.parts.announcer.worked(&Deed { tenant: &task.tenant, worker_id, work, at });
        }
    }

    /// A task of a tenant.
    pub(super) async fn task(&self, tenant: &TenantId, id: TaskId) -> Result<Task, Error> {
        let task = self.parts.store.task(tenant, id).await?;
        task.ok_or_else(|| Error::not_found("task_not_found", format!("there is no task {id}")))
    }

    pub(super) async fn write_task(
        &self,
        read: &Task,
        next: &Task,
        mut writes: Vec<Write>,
        hints: Vec<Hint>,
    ) -> Result<bool, Error> {
        writes.push(Write::UpdateTask(next.clone()));
        let guard = Guard::Task { tenant: read.tenant.clone(), id: read.id, version: read.version };
        let verdict = self.committer.commit(WriteSet { guards: vec![guard], writes, hints }).await?;
        match verdict {
            Verdict::Refused(reason) => {
                Err(Error::unprocessable("data_refused", format!("the database cannot store this: {reason}")))
            }
            verdict => Ok(verdict == Verdict::Applied),
        }
    }

    /// Refuses what is over the limit for payloads.
    pub(in crate::engine) fn check_payload(&self, what: &str, value: &Value) -> Result<(), Error> {
        self.check_bytes(what, canonical_bytes(value))
    }

    pub(super) fn check_bytes(&self, what: &str, bytes: usize) -> Result<(), Error> {
        let max = self.parts.limits.payload_bytes_max;
        if bytes > max {
            let message = format!(
                "the {what} has {bytes} bytes; the limit is {max}. Store it elsewhere and pass a reference"
            );
            return Err(Error::too_large("payload_too_large", message));
        }
        Ok(())
    }
}

/// Whom to tell that a task can be claimed: pollers now, or the alarm when its wait is over.
pub(in crate::engine) fn availability(task: &Task, now: crate::domain::Timestamp) -> Vec<Hint> {
    let mut hints: Vec<Hint> = task.due_at.map(|at| Hint::Due { at }).into_iter().collect();
    hints.push(if task.available_at <= now {
        Hint::Tasks { tenant: task.tenant.clone(), task_type: task.task_type.clone(), count: 1 }
    } else {
        Hint::Due { at: task.available_at }
    });
    hints
}
