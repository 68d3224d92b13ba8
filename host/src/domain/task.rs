//! An external task, and the one table of its legal transitions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{InstanceId, LockToken, StepExecutionId, TaskId, TenantId, Timestamp};

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum TaskStatus {
    /// Offered to workers.
    Pending,
    /// Held by a worker.
    Locked,
    /// Done.
    Completed,
    /// Failed for good: a dead letter.
    Failed,
    /// Withdrawn.
    Cancelled,
}

impl TaskStatus {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Locked, Self::Completed, Self::Failed, Self::Cancelled];

    /// Whether it can still be worked on.
    pub fn open(self) -> bool {
        matches!(self, Self::Pending | Self::Locked)
    }

    /// Whether a task may go from this state to `next`. The store and the tests use this table.
    pub fn may_become(self, next: Self) -> bool {
        match self {
            // Also COMPLETED: Camunda lets a worker finish whose lock ran out, as long as nobody took the task.
            Self::Pending => true,
            Self::Locked => true,
            // An operator may offer a dead letter again, or discard it.
            Self::Failed => matches!(next, Self::Pending | Self::Cancelled),
            Self::Completed | Self::Cancelled => false,
        }
    }

    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Locked => "LOCKED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }
}

/// A row of `workflow_external_tasks`. The seed's columns keep their names; ours are added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The instance that waits for it.
    pub workflow_instance_id: InstanceId,
    /// The step that waits for it.
    pub step_execution_id: StepExecutionId,
    /// The step's id within its workflow.
    pub step_id: String,
    /// The workflow's key.
    pub workflow_key: String,
    /// The instance's business key.
    pub business_key: Option<String>,
    /// The key that the plugin chose.
    pub key: String,
    /// What workers poll for.
    pub task_type: String,
    /// 1 is first.
    pub priority: i64,
    /// What the worker gets.
    pub input: Value,
    /// What the worker returned.
    pub output: Option<Value>,
    /// Who holds it, or held it last.
    pub worker_id: Option<String>,
    /// When it was locked.
    pub locked_at: Option<Timestamp>,
    /// How long a lock lasts, in seconds as the seed has it.
    pub lock_duration_seconds: f64,
    /// When the lock expires.
    pub lock_expires_at: Option<Timestamp>,
    /// What proves the lock.
    pub lock_token: Option<LockToken>,
    /// The last sign of life.
    pub last_heartbeat_at: Option<Timestamp>,
    /// Watched only if set.
    pub heartbeat_interval_seconds: Option<f64>,
    /// How many heartbeats may be missing.
    pub heartbeat_max_missed: i32,
    /// The time of an attempt; none means no end.
    pub timeout_seconds: Option<f64>,
    /// When the attempt ends.
    pub timeout_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Where it stands.
    pub status: TaskStatus,
    /// Attempts spent.
    pub retry_count: i32,
    /// Attempts in all.
    pub max_retries: i32,
    /// The wait before the second attempt.
    pub retry_initial_ms: i64,
    /// The factor from wait to wait.
    pub retry_factor_percent: i32,
    /// The longest wait.
    pub retry_max_ms: i64,
    /// How much of a wait is random.
    pub retry_jitter_percent: i32,
    /// Locks that ran out.
    pub lock_expiries: i32,
    /// How many may.
    pub max_lock_expiries: i32,
    /// What went wrong last.
    pub error_message: Option<String>,
    /// The code of what went wrong last.
    pub error_code: Option<String>,
    /// More of it, such as a stack trace.
    pub error_details: Option<String>,
    /// What a worker wants the next attempt to know.
    pub checkpoint: Option<Value>,
    /// Not offered before.
    pub available_at: Timestamp,
    /// Its place among others of its type: the earliest is handed out first. See [`super::turn`].
    pub turn_at: Timestamp,
    /// When the host must look at it next: the earliest of its deadlines; none if it has none.
    pub due_at: Option<Timestamp>,
    /// The W3C trace context to hand to the worker.
    pub traceparent: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Raised by every change.
    pub version: i64,
}

impl Task {
    /// The earliest deadline: the attempt's end, the lock's end, or the heartbeat that stays away.
    pub fn deadline(&self) -> Option<Timestamp> {
        if !self.status.open() {
            return None;
        }
        let lock = if self.status == TaskStatus::Locked {
            [self.lock_expires_at, self.heartbeat_deadline()].into_iter().flatten().min()
        } else {
            None
        };
        [self.timeout_at, lock].into_iter().flatten().min()
    }

    /// Until when it is locked, as Camunda sees it: the wait before a retry is a lock, too.
    pub fn locked_until(&self) -> Option<Timestamp> {
        match self.status {
            TaskStatus::Locked => self.lock_expires_at,
            _ => {
                (self.worker_id.is_some() && self.available_at > self.created_at).then_some(self.available_at)
            }
        }
    }

    /// When the worker counts as dead, where heartbeats are watched.
    pub fn heartbeat_deadline(&self) -> Option<Timestamp> {
        let interval = self.heartbeat_interval_seconds?;
        let last = self.last_heartbeat_at?;
        Some(last.plus_millis(seconds_to_millis(interval * f64::from(self.heartbeat_max_missed.max(1)))))
    }
}

/// The member of a checkpoint that has a task's own variables, as Camunda's workers set them.
pub const LOCAL_VARIABLES: &str = "localVariables";

/// Seconds as the seed's columns have them, in milliseconds.
#[expect(clippy::cast_possible_truncation, reason = "a cast from f64 saturates")]
pub fn seconds_to_millis(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}

/// Milliseconds, in seconds as the seed's columns have them.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 ms")]
pub fn millis_to_seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
}

/// Who speaks for a task: a token if it kept one, else a name, else nobody in particular.
#[derive(Clone, Debug, Default)]
pub struct Holder {
    /// The worker's name.
    pub worker_id: Option<String>,
    /// The token it was given with the task.
    pub lock_token: Option<LockToken>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_a_final_state() {
        for next in TaskStatus::ALL {
            assert!(!TaskStatus::Completed.may_become(next));
            assert!(!TaskStatus::Cancelled.may_become(next));
            let by_an_operator = [TaskStatus::Pending, TaskStatus::Cancelled];
            assert_eq!(TaskStatus::Failed.may_become(next), by_an_operator.contains(&next));
        }
    }
}
