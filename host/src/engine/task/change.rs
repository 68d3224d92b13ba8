//! The rules of a task as pure functions: a row, a report, a time; a new row, or why not.

use serde_json::Value;

use crate::domain::Timestamp;
use crate::domain::event::Event;
use crate::domain::task::{Holder, Task, TaskStatus, seconds_to_millis};
use crate::engine::port::store::ClaimSlot;
use crate::engine::{Error, WorkerFailure};

/// What a report or a deadline does to a task.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// It ended: the step is told.
    Ended(Box<Task>, Event),
    /// It is offered again; a line for the timeline.
    Offered(Box<Task>, String),
    /// It was reported before, in the same words: the same answer, and nothing spent.
    Repeat,
    /// Nothing is due yet: only `due_at` is put right.
    Early(Box<Task>),
}

/// A worker completes a task.
pub(super) fn complete(task: &Task, holder: &Holder, output: Value, now: Timestamp) -> Result<Change, Error> {
    if task.status == TaskStatus::Completed && speaks_for(task, holder) {
        return Ok(Change::Repeat);
    }
    check_held(task, holder)?;
    let worker = task.worker_id.clone().unwrap_or_default();
    let event = Event::TaskCompleted { key: task.key.clone(), worker, output: output.clone() };
    let mut next = ended(task, TaskStatus::Completed, now);
    next.output = Some(output);
    Ok(Change::Ended(Box::new(next), event))
}

/// A worker fails a task.
pub(super) fn fail(
    task: &Task,
    holder: &Holder,
    failure: &WorkerFailure,
    now: Timestamp,
) -> Result<Change, Error> {
    let same_words = task.error_message.as_deref() == Some(failure.message.as_str());
    let reported = task.status == TaskStatus::Failed
        || (task.status == TaskStatus::Pending
            && task.retry_count > 0
            && task.lock_token.is_some()
            && same_words);
    if reported && speaks_for(task, holder) {
        return Ok(Change::Repeat);
    }
    check_held(task, holder)?;
    let code = failure.code.clone().unwrap_or_else(|| "task_failed".into());
    let mut next = task.clone();
    next.error_details.clone_from(&failure.details);
    Ok(spend_attempt(next, &code, &failure.message, failure.no_retry, failure.retry_delay_ms, now))
}

/// A deadline may have passed: the attempt's, the lock's, or the heartbeat's.
pub(super) fn due(task: &Task, now: Timestamp) -> Change {
    let passed = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
    if !task.status.open() {
        return Change::Repeat;
    }
    if passed(task.timeout_at) {
        let seconds = task.timeout_seconds.unwrap_or_default();
        let message = format!("timeout after {seconds} s");
        return spend_attempt(task.clone(), "task_timeout", &message, false, None, now);
    }
    let lock_over = passed(task.lock_expires_at);
    if task.status == TaskStatus::Locked && (lock_over || passed(task.heartbeat_deadline())) {
        let why = if lock_over { "the lock expired" } else { "heartbeats stayed away" };
        return release_expired(task, why, now);
    }
    let mut next = task.clone();
    next.due_at = next.deadline();
    next.version += 1;
    Change::Early(Box::new(next))
}

/// The lock ran out: no attempt is spent, but it is counted.
fn release_expired(task: &Task, why: &str, now: Timestamp) -> Change {
    let mut next = task.clone();
    next.lock_expiries += 1;
    let worker = task.worker_id.as_deref().unwrap_or("unknown");
    if next.lock_expiries > next.max_lock_expiries {
        let message = format!("{why} {} times; the last worker was {worker}", next.lock_expiries);
        return finish(next, "task_poison", &message, 0, now);
    }
    let note = format!("{why} (worker {worker}); the task is offered again");
    next.lock_token = None;
    Change::Offered(Box::new(offered(next, now, now)), note)
}

fn spend_attempt(
    mut next: Task,
    code: &str,
    message: &str,
    no_retry: bool,
    delay_ms: Option<u64>,
    now: Timestamp,
) -> Change {
    next.retry_count += 1;
    next.error_code = Some(code.to_owned());
    next.error_message = Some(message.to_owned());
    let left = (next.max_retries - next.retry_count).max(0);
    if no_retry || left == 0 {
        return finish(next, code, message, left, now);
    }
    let wait_ms =
        delay_ms.map_or_else(|| wait_before_retry_ms(&next), |ms| i64::try_from(ms).unwrap_or(i64::MAX));
    let note = format!("attempt {} of {} failed: {message}", next.retry_count, next.max_retries);
    // The token and worker stay on the row: they tell a repeated report from a new one.
    let available_at = now.plus_millis(wait_ms);
    next.timeout_at =
        next.timeout_seconds.map(|seconds| available_at.plus_millis(seconds_to_millis(seconds)));
    Change::Offered(Box::new(offered(next, available_at, now)), note)
}

/// The wait before the attempt after `retry_count` failed ones: exponential, capped, with jitter from the id.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a cast from f64 saturates")]
pub(super) fn wait_before_retry_ms(task: &Task) -> i64 {
    let factor = f64::from(task.retry_factor_percent.max(100)) / 100.0;
    let exponent = f64::from((task.retry_count - 1).max(0));
    let wait = (task.retry_initial_ms as f64 * factor.powf(exponent)).min(task.retry_max_ms.max(0) as f64);
    let random =
        (task.id.0.as_u128() >> 16).wrapping_mul(0x9e37_79b9 + u128::from(task.retry_count.unsigned_abs()));
    let share = (random % 1000) as f64 / 1000.0;
    let jitter = wait * f64::from(task.retry_jitter_percent.clamp(0, 100)) / 100.0 * share;
    (wait - jitter).max(0.0) as i64
}

fn finish(mut next: Task, code: &str, message: &str, left: i32, now: Timestamp) -> Change {
    next.error_code = Some(code.to_owned());
    next.error_message = Some(message.to_owned());
    let event = Event::TaskFailed {
        key: next.key.clone(),
        code: code.to_owned(),
        message: message.to_owned(),
        retries_left: left.unsigned_abs(),
        details: serde_json::json!({
            "taskId": next.id, "attempts": next.retry_count, "stackTrace": next.error_details,
        }),
    };
    Change::Ended(Box::new(ended(&next, TaskStatus::Failed, now)), event)
}

fn ended(task: &Task, status: TaskStatus, now: Timestamp) -> Task {
    let mut next = task.clone();
    next.status = status;
    next.completed_at = Some(now);
    next.updated_at = now;
    next.lock_expires_at = None;
    next.due_at = None;
    next.version += 1;
    next
}

fn offered(mut next: Task, available_at: Timestamp, now: Timestamp) -> Task {
    next.status = TaskStatus::Pending;
    next.locked_at = None;
    next.lock_expires_at = None;
    next.last_heartbeat_at = None;
    next.available_at = available_at;
    next.updated_at = now;
    next.version += 1;
    next.due_at = next.deadline();
    next
}

/// A worker gives a task back.
pub(super) fn unlock(task: &Task, holder: &Holder, now: Timestamp) -> Result<Change, Error> {
    if task.status == TaskStatus::Pending {
        return Ok(Change::Repeat);
    }
    check_held(task, holder)?;
    let worker = task.worker_id.as_deref().unwrap_or("unknown");
    let note = format!("given back (worker {worker}); the task is offered again");
    Ok(Change::Offered(Box::new(give_back(task, now)), note))
}

/// Gives a pending task to a worker: what the claim of a database does to a row.
pub(super) fn lock(task: Task, slot: &ClaimSlot, now: Timestamp) -> Task {
    let mut next = task;
    let lock_ms = slot.lock_ms.unwrap_or_else(|| seconds_to_millis(next.lock_duration_seconds));
    next.status = TaskStatus::Locked;
    next.worker_id.clone_from(&slot.worker_id);
    next.lock_token = Some(slot.lock_token);
    next.locked_at = Some(now);
    next.last_heartbeat_at = Some(now);
    next.lock_expires_at = Some(now.plus_millis(lock_ms));
    next.updated_at = now;
    next.version += 1;
    next.due_at = next.deadline();
    next
}

/// Gives a held task back as if it had never been taken.
pub(super) fn give_back(task: &Task, now: Timestamp) -> Task {
    let mut next = task.clone();
    next.worker_id = None;
    next.lock_token = None;
    offered(next, now, now)
}

/// Whether a reporter may be the one who holds, or last held, the task.
pub(super) fn speaks_for(task: &Task, holder: &Holder) -> bool {
    match (&holder.lock_token, &holder.worker_id) {
        (Some(token), _) => task.lock_token.as_ref() == Some(token),
        (None, Some(worker)) => task.worker_id.as_ref() == Some(worker),
        (None, None) => true,
    }
}

fn check_held(task: &Task, holder: &Holder) -> Result<(), Error> {
    match task.status {
        TaskStatus::Locked if speaks_for(task, holder) => Ok(()),
        TaskStatus::Locked => Err(Error::conflict(
            "lock_lost",
            format!("task {} is held by another worker; drop this result and poll again", task.id),
        )),
        TaskStatus::Pending => Err(Error::conflict(
            "lock_lost",
            format!("task {} is not locked: the lock expired or was given back; poll again", task.id),
        )),
        TaskStatus::Cancelled => Err(Error::conflict(
            "task_cancelled",
            format!("task {} was cancelled; stop working on it", task.id),
        )),
        TaskStatus::Completed | TaskStatus::Failed => Err(Error::conflict(
            "task_ended",
            format!("task {} is {} already; nothing was changed", task.id, task.status.label()),
        )),
    }
}

#[cfg(test)]
#[path = "change_tests.rs"]
pub(in crate::engine) mod tests;
