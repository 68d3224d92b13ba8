//! Leases on tasks: a heartbeat extends one, giving back ends it. Neither touches the instance.

use std::sync::Arc;

use serde_json::Value;

use super::change;
use crate::domain::task::{Holder, Task, TaskStatus, seconds_to_millis};
use crate::domain::{TaskId, TenantId, Timestamp};
use crate::engine::port::store::TaskLease;
use crate::engine::port::{Deed, Hint, Work};
use crate::engine::{Engine, Error, HeartbeatAnswer};
use crate::failpoint::{self, Point};

impl Engine {
    /// A sign of life: renews the lock, never the attempt's end, and tells the worker whether to go on.
    pub async fn heartbeat(
        &self,
        tenant: &TenantId,
        id: TaskId,
        holder: &Holder,
        checkpoint: Option<Value>,
    ) -> Result<HeartbeatAnswer, Error> {
        if let Some(checkpoint) = &checkpoint {
            self.check_payload("checkpoint", checkpoint)?;
        }
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let task = self.task(tenant, id).await?;
            match task.status {
                TaskStatus::Cancelled | TaskStatus::Completed | TaskStatus::Failed => {
                    return Ok(HeartbeatAnswer::Stop);
                }
                TaskStatus::Pending => return Ok(HeartbeatAnswer::Lost),
                TaskStatus::Locked if !change::speaks_for(&task, holder) => return Ok(HeartbeatAnswer::Lost),
                TaskStatus::Locked => {}
            }
            let now = self.parts.clock.now();
            let next = renewed(&task, checkpoint.clone(), now);
            let lease = TaskLease { task: next.clone(), read_version: task.version };
            if self.parts.store.lease_tasks(std::slice::from_ref(&lease)).await? == [true] {
                failpoint::pass(Point::LockExtended);
                self.parts
                    .announcer
                    .announce(&next.due_at.map(|at| Hint::Due { at }).into_iter().collect::<Vec<_>>());
                self.recent.keep_tasks(std::slice::from_ref(&next));
                let lock_expires_at = next.lock_expires_at.unwrap_or(now);
                if let Some(worker_id) = &next.worker_id {
                    let work = Work::Heartbeat { until: lock_expires_at };
                    self.parts.announcer.worked(&Deed { tenant, worker_id, work, at: now });
                }
                return Ok(HeartbeatAnswer::Continue { lock_expires_at });
            }
        }
        Err(Error::Busy { code: "task_busy", message: format!("task {id} keeps changing; try again") })
    }

    /// A worker gives a task back: no attempt and no lock expiry is spent. One that is free already stays so.
    pub async fn unlock(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        holder: &Holder,
    ) -> Result<Task, Error> {
        self.change_task(tenant, id, None, |task, now| change::unlock(task, holder, now)).await
    }

    /// Gives tasks back that were claimed and could not be delivered: no attempt and no lock expiry is spent.
    pub async fn give_back(&self, tasks: Vec<Task>) -> Result<(), Error> {
        let now = self.parts.clock.now();
        let leases: Vec<TaskLease> = tasks
            .iter()
            .map(|task| TaskLease { task: change::give_back(task, now), read_version: task.version })
            .collect();
        let given = self.parts.store.lease_tasks(&leases).await?;
        let hints: Vec<Hint> = leases
            .iter()
            .zip(given)
            .filter(|(_, given)| *given)
            .map(|(lease, _)| Hint::Tasks {
                tenant: lease.task.tenant.clone(),
                task_type: lease.task.task_type.clone(),
                count: 1,
            })
            .collect();
        self.heard(&hints);
        self.parts.announcer.announce(&hints);
        Ok(())
    }
}

fn renewed(task: &Task, checkpoint: Option<Value>, now: Timestamp) -> Task {
    let mut next = task.clone();
    next.last_heartbeat_at = Some(now);
    let lock_ms = seconds_to_millis(task.lock_duration_seconds);
    // A worker that asked for a longer lock when it polled does not lose it by a heartbeat.
    let until = now.plus_millis(lock_ms);
    next.lock_expires_at = Some(task.lock_expires_at.map_or(until, |end| end.max(until)));
    if checkpoint.is_some() {
        next.checkpoint = checkpoint;
    }
    next.updated_at = now;
    next.version += 1;
    next.due_at = next.deadline();
    next
}
