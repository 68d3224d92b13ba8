//! Locks, retries and priorities under Camunda's rules.

use std::sync::Arc;

use super::camunda::{Refused, owned};
use super::report::availability;
use crate::domain::task::{Task, TaskStatus, seconds_to_millis};
use crate::domain::{LockToken, TaskId, TenantId, Timestamp, turn};
use crate::engine::mailbox::Taken;
use crate::engine::port::Hint;
use crate::engine::port::store::TaskLease;
use crate::engine::signal::Signal;
use crate::engine::{Engine, Error};

impl Engine {
    /// Locks a task for a worker, unless another one holds it.
    pub async fn lock_task(
        &self,
        tenant: &TenantId,
        id: TaskId,
        worker: &str,
        lock_ms: i64,
    ) -> Result<(), Refused> {
        self.change_lease(tenant, id, |task, now| {
            let held = task.locked_until().is_some_and(|end| end > now);
            if task.status == TaskStatus::Failed || (held && task.worker_id.as_deref() != Some(worker)) {
                return Err(Refused::Owner(task.worker_id.clone()));
            }
            Ok(locked(task, worker, lock_ms, now))
        })
        .await
    }

    /// Locks tasks that were found by a query; those that nobody was quicker for.
    pub async fn lock_found(&self, found: Vec<(Task, i64)>, worker: &str) -> Result<Vec<Task>, Error> {
        let now = self.parts.clock.now();
        let leases: Vec<TaskLease> = found
            .into_iter()
            .map(|(task, lock_ms)| TaskLease {
                read_version: task.version,
                task: locked(&task, worker, lock_ms, now),
            })
            .collect();
        self.keep_leases(leases).await
    }

    /// Gives tasks that were just claimed another lock than the claim gave them.
    pub async fn relock(&self, claimed: Vec<(Task, i64)>) -> Result<Vec<Task>, Error> {
        let now = self.parts.clock.now();
        let again = |(task, lock_ms): (Task, i64)| {
            let mut next = task.clone();
            next.lock_expires_at = Some(task.locked_at.unwrap_or(now).plus_millis(lock_ms));
            next.version += 1;
            next.due_at = next.deadline();
            TaskLease { task: next, read_version: task.version }
        };
        self.keep_leases(claimed.into_iter().map(again).collect()).await
    }

    /// Extends a lock that has not run out, counted from now.
    pub async fn extend_lock(
        &self,
        tenant: &TenantId,
        id: TaskId,
        worker: &str,
        lock_ms: i64,
    ) -> Result<(), Refused> {
        self.change_lease(tenant, id, |task, now| {
            owned(task, worker)?;
            if task.locked_until().is_none_or(|end| end < now) {
                return Err(Refused::Expired(now));
            }
            let mut next = changed(task, now);
            if task.status == TaskStatus::Locked {
                next.lock_expires_at = Some(now.plus_millis(lock_ms));
                next.last_heartbeat_at = Some(now);
            } else {
                next.available_at = now.plus_millis(lock_ms);
            }
            next.due_at = next.deadline();
            Ok(next)
        })
        .await
    }

    /// Takes a lock away, whoever holds it.
    pub async fn unlock_task(&self, tenant: &TenantId, id: TaskId) -> Result<(), Refused> {
        self.change_lease(tenant, id, |task, now| {
            let mut next = task.clone();
            (next.worker_id, next.lock_token) = (None, None);
            if task.status == TaskStatus::Failed {
                return Ok(changed(&next, now));
            }
            // The attempt goes on: it ends when it would have.
            let mut next = released(next, now, now);
            next.timeout_at = task.timeout_at;
            next.due_at = next.deadline();
            Ok(next)
        })
        .await
    }

    /// Sets the priority of an open task.
    pub async fn set_priority(&self, tenant: &TenantId, id: TaskId, priority: i64) -> Result<(), Refused> {
        self.change_lease(tenant, id, |task, now| {
            let turn_at = turn::moved(task.turn_at, task.priority, priority);
            Ok(Task { priority, turn_at, ..changed(task, now) })
        })
        .await
    }

    /// Sets how many attempts are left. A task that was given up is offered again; none left gives a task up.
    pub async fn set_retries(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        retries: i32,
    ) -> Result<(), Refused> {
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let read = self.open_task(tenant, id).await?;
            let now = self.parts.clock.now();
            let mut next = changed(&read, now);
            // What was never failed has a number of attempts now, all the same.
            next.retry_count = next.retry_count.max(1);
            next.max_retries = next.retry_count.saturating_add(retries);
            let (instance, read_version) = (read.workflow_instance_id, read.version);
            let signal = match (read.status, retries) {
                (TaskStatus::Failed, 0) => return Ok(()),
                (TaskStatus::Failed, _) => {
                    next.completed_at = None;
                    let mut next = released(next, now, now);
                    next.version = read.version + 1;
                    Signal::TaskRevived { task: Box::new(next), read_version }
                }
                (_, 0) => {
                    let message = next.error_message.clone().unwrap_or_else(|| "no attempts are left".into());
                    let event = super::camunda::given_up(&next, message);
                    next.status = TaskStatus::Failed;
                    (next.lock_expires_at, next.due_at, next.completed_at) = (None, None, Some(now));
                    Signal::TaskHeld { task: Box::new(next), read_version, event }
                }
                _ => {
                    next.due_at = next.deadline();
                    if self.lease(read, next).await? {
                        return Ok(());
                    }
                    continue;
                }
            };
            if matches!(self.send(tenant, instance, signal).await?, Taken::Done) {
                return Ok(());
            }
            if read.status == TaskStatus::Failed {
                // It failed under our own rules, and perhaps the instance with it: both go on, if they can.
                let attempts = u32::try_from(retries).unwrap_or(1).min(super::dead_letter::ATTEMPTS_MAX);
                self.retry_dead_letter(tenant, id, Some(attempts)).await?;
                return Ok(());
            }
        }
        Err(busy(id).into())
    }

    pub(super) async fn has_ended(&self, task: &Task) -> Result<bool, Error> {
        let instance = self.parts.store.instance(&task.tenant, task.workflow_instance_id).await?;
        Ok(instance.is_none_or(|instance| instance.status.ended()))
    }

    async fn change_lease(
        &self,
        tenant: &TenantId,
        id: TaskId,
        rule: impl Fn(&Task, Timestamp) -> Result<Task, Refused>,
    ) -> Result<(), Refused> {
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let read = self.open_task(tenant, id).await?;
            let next = rule(&read, self.parts.clock.now())?;
            if self.lease(read, next).await? {
                return Ok(());
            }
        }
        Err(busy(id).into())
    }

    async fn lease(&self, read: Task, next: Task) -> Result<bool, Error> {
        let lease = TaskLease { task: next, read_version: read.version };
        Ok(!self.keep_leases(vec![lease]).await?.is_empty())
    }

    /// Writes leases; the tasks that were still as they were read.
    async fn keep_leases(&self, leases: Vec<TaskLease>) -> Result<Vec<Task>, Error> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let written = self.parts.store.lease_tasks(&leases).await?;
        let kept: Vec<Task> =
            leases.into_iter().zip(written).filter(|(_, done)| *done).map(|(lease, _)| lease.task).collect();
        let now = self.parts.clock.now();
        let hints: Vec<Hint> = kept.iter().flat_map(|task| told(task, now)).collect();
        self.heard(&hints);
        self.parts.announcer.announce(&hints);
        for task in &kept {
            self.recent.take_task(&task.tenant, task.id);
        }
        let held: Vec<Task> = kept.iter().filter(|task| task.status == TaskStatus::Locked).cloned().collect();
        self.recent.keep_tasks(&held);
        Ok(kept)
    }
}

/// Offered from some time on; who held it last stays on the row.
pub(super) fn released(mut next: Task, available_at: Timestamp, now: Timestamp) -> Task {
    next.status = TaskStatus::Pending;
    (next.locked_at, next.lock_expires_at, next.last_heartbeat_at) = (None, None, None);
    next.timeout_at =
        next.timeout_seconds.map(|seconds| available_at.plus_millis(seconds_to_millis(seconds)));
    next.available_at = available_at;
    next.updated_at = now;
    next.version += 1;
    next.due_at = next.deadline();
    next
}

fn locked(task: &Task, worker: &str, lock_ms: i64, now: Timestamp) -> Task {
    let mut next = changed(task, now);
    next.status = TaskStatus::Locked;
    next.worker_id = Some(worker.to_owned());
    next.lock_token = Some(LockToken::new());
    (next.locked_at, next.last_heartbeat_at) = (Some(now), Some(now));
    next.lock_expires_at = Some(now.plus_millis(lock_ms));
    next.due_at = next.deadline();
    next
}

fn changed(task: &Task, now: Timestamp) -> Task {
    let mut next = task.clone();
    next.updated_at = now;
    next.version += 1;
    next
}

fn told(task: &Task, now: Timestamp) -> Vec<Hint> {
    if task.status == TaskStatus::Pending {
        return availability(task, now);
    }
    task.due_at.map(|at| Hint::Due { at }).into_iter().collect()
}

fn busy(id: TaskId) -> Error {
    Error::Busy { code: "task_busy", message: format!("task {id} keeps changing; try again") }
}
