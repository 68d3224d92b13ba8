//! Dead letters: tasks that failed for good. An operator offers one again, or discards it.

use std::sync::Arc;

use crate::domain::task::{Task, TaskStatus, seconds_to_millis};
use crate::domain::{TaskId, TenantId, Timestamp};
use crate::engine::mailbox::Taken;
use crate::engine::signal::Signal;
use crate::engine::{Engine, Error, record};

/// Attempts that an operator may give at once.
pub(super) const ATTEMPTS_MAX: u32 = 1_000;

impl Engine {
    /// Offers a dead letter again, with all its attempts or as many as asked for. Its instance, which failed with it,
    /// goes on; a failure that `onError` took cannot be undone.
    pub async fn retry_dead_letter(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        attempts: Option<u32>,
    ) -> Result<Task, Error> {
        if attempts.is_some_and(|attempts| attempts == 0 || attempts > ATTEMPTS_MAX) {
            let message = format!("attempts must be 1 to {ATTEMPTS_MAX}");
            return Err(Error::invalid("invalid_request", message));
        }
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let task = self.task(tenant, id).await?;
            let next = offered_again(&task, attempts, self.parts.clock.now())?;
            let signal = Signal::Revive { task: Box::new(next.clone()), read_version: task.version };
            if matches!(self.send(tenant, task.workflow_instance_id, signal).await?, Taken::Done) {
                return Ok(next);
            }
        }
        Err(Error::Busy { code: "task_busy", message: format!("task {id} keeps changing; try again") })
    }

    /// Takes a dead letter off the list: nobody will work on it again. Its instance stays as it is.
    pub async fn discard_dead_letter(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        reason: &str,
    ) -> Result<Task, Error> {
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let task = self.task(tenant, id).await?;
            // Only a dead letter that was discarded is cancelled and has an error.
            if task.status == TaskStatus::Cancelled && task.locked_at.is_none() && task.error_code.is_some() {
                return Ok(task);
            }
            let now = self.parts.clock.now();
            let next = discarded(&task, now)?;
            let why = if reason.is_empty() { "by an operator" } else { reason };
            let line = record::task_line(
                &next,
                now,
                "dead-letter-discarded",
                format!("dead letter discarded: {why}"),
            );
            if self.write_task(&task, &next, vec![line], Vec::new()).await? {
                return Ok(next);
            }
        }
        Err(Error::Busy { code: "task_busy", message: format!("task {id} keeps changing; try again") })
    }
}

/// A dead letter as it is offered again: nothing is spent, and its time begins anew.
fn offered_again(task: &Task, attempts: Option<u32>, now: Timestamp) -> Result<Task, Error> {
    check_dead(task)?;
    let mut next = unheld(task, TaskStatus::Pending, now);
    next.retry_count = 0;
    next.lock_expiries = 0;
    next.max_retries = attempts.and_then(|attempts| i32::try_from(attempts).ok()).unwrap_or(task.max_retries);
    next.completed_at = None;
    next.available_at = now;
    next.timeout_at = task.timeout_seconds.map(|seconds| now.plus_millis(seconds_to_millis(seconds)));
    next.due_at = next.deadline();
    Ok(next)
}

fn discarded(task: &Task, now: Timestamp) -> Result<Task, Error> {
    check_dead(task)?;
    Ok(unheld(task, TaskStatus::Cancelled, now))
}

fn unheld(task: &Task, status: TaskStatus, now: Timestamp) -> Task {
    let mut next = task.clone();
    next.status = status;
    next.worker_id = None;
    next.lock_token = None;
    next.locked_at = None;
    next.lock_expires_at = None;
    next.last_heartbeat_at = None;
    next.updated_at = now;
    next.version += 1;
    next
}

fn check_dead(task: &Task) -> Result<(), Error> {
    if task.status == TaskStatus::Failed {
        return Ok(());
    }
    let status = task.status.label();
    Err(Error::conflict("not_a_dead_letter", format!("task {} is {status}, and no dead letter", task.id)))
}
