//! A worker as the hosts have heard of it, and the one rule of what it is: at work, idle or dead.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{InstanceId, TaskId, TenantId, Timestamp};

/// A worker that was handed or reported something within this time is at work.
const ACTIVE_MS: i64 = 60_000;
/// A worker that was silent for longer, and holds nothing, is dead. A parked poll is not silence.
pub const DEAD_MS: i64 = 180_000;
/// The time over which rates are counted, at least.
const WINDOW_MS: i64 = 60_000;

/// What a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum WorkerStatus {
    /// It works on tasks.
    Active,
    /// It polls, and there is nothing for it.
    Idle,
    /// It said goodbye, or is silent.
    Dead,
}

impl WorkerStatus {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Active, Self::Idle, Self::Dead];

    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Idle => "IDLE",
            Self::Dead => "DEAD",
        }
    }

    /// What a worker is that was heard of and worked last at these times.
    pub fn of(
        seen_at: Timestamp,
        work_at: Option<Timestamp>,
        busy_until: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        let recent = |at: Timestamp, within_ms: i64| at.plus_millis(within_ms) > now;
        if busy_until.is_some_and(|until| until > now) || work_at.is_some_and(|at| recent(at, ACTIVE_MS)) {
            Self::Active
        } else if recent(seen_at, DEAD_MS) {
            Self::Idle
        } else {
            Self::Dead
        }
    }
}

/// A row of `workflow_external_workers`. The seed's columns keep their names; ours are added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Worker {
    pub id: Uuid,
    pub tenant: TenantId,
    pub worker_id: String,
    pub worker_type: Option<String>,
    /// Task types and patterns.
    pub task_types: Option<Vec<String>>,
    pub last_poll_at: Option<Timestamp>,
    pub last_heartbeat_at: Option<Timestamp>,
    /// When it was last handed a task, or reported on one.
    pub last_work_at: Option<Timestamp>,
    pub last_seen_at: Timestamp,
    /// The end of the lock that it was given last.
    pub busy_until: Option<Timestamp>,
    /// As it was when the row was written: see [`Worker::status_at`].
    pub status: WorkerStatus,
    pub polls: i64,
    pub tasks_completed: i64,
    pub tasks_failed: i64,
    /// The rates of the window before this one.
    pub polls_per_minute: f64,
    pub completed_per_minute: f64,
    /// When the window of the rates began, and what the counters were then.
    pub window_at: Timestamp,
    pub window_polls: i64,
    pub window_completed: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Worker {
    /// What it is now.
    pub fn status_at(&self, now: Timestamp) -> WorkerStatus {
        if self.status == WorkerStatus::Dead {
            return WorkerStatus::Dead;
        }
        WorkerStatus::of(self.last_seen_at, self.last_work_at, self.busy_until, now)
    }

    /// Polls and completed tasks a minute, over the last minute or more.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn rates_at(&self, now: Timestamp) -> (f64, f64) {
        let elapsed_ms = now.millis().saturating_sub(self.window_at.millis());
        if elapsed_ms < WINDOW_MS {
            return (self.polls_per_minute, self.completed_per_minute);
        }
        let rate = |count: i64| count as f64 * 60_000.0 / elapsed_ms as f64;
        (rate(self.polls - self.window_polls), rate(self.tasks_completed - self.window_completed))
    }
}

/// What a host has heard of a worker since it last wrote it down: counters are added, times only go forward.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "as in Worker")]
pub struct WorkerNote {
    /// The row's, if it is new.
    pub id: Uuid,
    pub tenant: TenantId,
    pub worker_id: String,
    pub worker_type: Option<String>,
    pub task_types: Option<Vec<String>>,
    pub last_poll_at: Option<Timestamp>,
    pub last_heartbeat_at: Option<Timestamp>,
    pub last_work_at: Option<Timestamp>,
    pub last_seen_at: Timestamp,
    pub busy_until: Option<Timestamp>,
    pub status: WorkerStatus,
    pub polls: i64,
    pub tasks_completed: i64,
    pub tasks_failed: i64,
    pub at: Timestamp,
}

/// A task that a worker held and that was withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "as in Task")]
pub struct Cancellation {
    pub id: TaskId,
    pub task_type: String,
    pub workflow_instance_id: InstanceId,
    pub step_id: String,
    pub cancelled_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_at_work_then_idle_then_dead() {
        let at = Timestamp::from_millis;
        let status = |now| WorkerStatus::of(at(1_000), Some(at(1_000)), Some(at(5_000)), at(now));
        assert_eq!(status(2_000), WorkerStatus::Active);
        assert_eq!(status(60_999), WorkerStatus::Active);
        assert_eq!(status(61_001), WorkerStatus::Idle);
        assert_eq!(status(181_001), WorkerStatus::Dead);
        let holds = WorkerStatus::of(at(0), None, Some(at(900_000)), at(800_000));
        assert_eq!(holds, WorkerStatus::Active, "a lock that lasts counts for more than silence");
    }
}
