//! Why a task is not being handed out.

use crate::domain::page::PageRequest;
use crate::domain::pattern;
use crate::domain::task::{Task, TaskStatus};
use crate::domain::worker::{DEAD_MS, WorkerStatus};
use crate::domain::{TaskId, TenantId, Timestamp};
use crate::engine::{Engine, Error};

/// Tasks that are counted before one.
const AHEAD_MAX: u32 = 1_000;
/// Workers that are looked at.
const WORKERS_LOOKED_AT_MAX: u32 = 500;
/// Workers that are named.
const WORKERS_NAMED_MAX: usize = 10;

/// What keeps a task from being handed out now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing: the next poll of its type gets it.
    Offered,
    /// Others of its type come first.
    BehindOthers,
    /// Nobody polls its type.
    NoWorker,
    /// It waits before its next attempt.
    WaitsForRetry,
    /// A worker holds it.
    Locked,
    /// A worker's lock has run out, and the task is about to be offered again.
    LockExpired,
    /// It is done.
    Completed,
    /// It failed for good.
    DeadLetter,
    /// It was withdrawn.
    Cancelled,
}

impl Reason {
    /// A stable code for programs.
    pub fn label(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::BehindOthers => "behind_others",
            Self::NoWorker => "no_worker",
            Self::WaitsForRetry => "waits_for_retry",
            Self::Locked => "locked",
            Self::LockExpired => "lock_expired",
            Self::Completed => "completed",
            Self::DeadLetter => "dead_letter",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Why {
    /// The task as it is.
    pub task: Task,
    /// What keeps it.
    pub reason: Reason,
    /// For people: what is so, and what can be done.
    pub message: String,
    /// When that ends by itself.
    pub until: Option<Timestamp>,
    /// Tasks of its type that come first; counted up to a thousand.
    pub ahead: u32,
    /// Workers that poll its type, by name, the first few.
    pub workers: Vec<String>,
}

impl Engine {
    /// Explains why a task is not being handed out. `polled_here` says whether a poll for a type waits on this host:
    /// workers without a name are known to nobody else.
    pub async fn why(
        &self,
        tenant: &TenantId,
        id: TaskId,
        polled_here: impl Fn(&str) -> bool,
    ) -> Result<Why, Error> {
        let task = self.task(tenant, id).await?;
        let now = self.parts.clock.now();
        let why = |reason, message: String, until| {
            Ok(Why { task: task.clone(), reason, message, until, ahead: 0, workers: Vec::new() })
        };
        let worker = task.worker_id.as_deref().unwrap_or("a worker without a name");
        match task.status {
            TaskStatus::Completed => why(Reason::Completed, format!("it was completed by {worker}"), None),
            TaskStatus::Cancelled => {
                why(Reason::Cancelled, "it was withdrawn: its step or instance has ended".into(), None)
            }
            TaskStatus::Failed => {
                let error = task.error_message.as_deref().unwrap_or("no reason was given");
                let message = format!("it failed for good: {error}. Retry or discard the dead letter");
                why(Reason::DeadLetter, message, None)
            }
            TaskStatus::Locked if task.due_at.is_some_and(|due| due <= now) => {
                let message = format!("the lock of {worker} has run out; it is about to be offered again");
                why(Reason::LockExpired, message, None)
            }
            TaskStatus::Locked => {
                let until = task.due_at.or(task.lock_expires_at);
                let end = until.map_or_else(|| "it reports".to_owned(), |until| until.to_string());
                why(
                    Reason::Locked,
                    format!("{worker} holds it until {end}, or longer with a heartbeat"),
                    until,
                )
            }
            TaskStatus::Pending if task.available_at > now => {
                let (spent, of, until) = (task.retry_count, task.max_retries, task.available_at);
                let message = format!("{spent} of {of} attempts failed; it is offered again at {until}");
                why(Reason::WaitsForRetry, message, Some(until))
            }
            TaskStatus::Pending => {
                let polled = polled_here(&task.task_type);
                self.why_pending(task, polled, now).await
            }
        }
    }

    async fn why_pending(&self, task: Task, polled_here: bool, now: Timestamp) -> Result<Why, Error> {
        let ahead = self.parts.store.ahead_of(&task, now, AHEAD_MAX).await?;
        let workers = self.pollers_of(&task, now).await?;
        let task_type = &task.task_type;
        let count = if ahead >= AHEAD_MAX { format!("{ahead} or more") } else { ahead.to_string() };
        let (reason, message) = if workers.is_empty() && !polled_here {
            let heard = DEAD_MS / 1_000;
            (
                Reason::NoWorker,
                format!(
                    "no worker has polled for '{task_type}' in the last {heard} s; start one, or look at its taskType"
                ),
            )
        } else if ahead > 0 {
            (
                Reason::BehindOthers,
                format!("{count} tasks of type '{task_type}' are first; more workers help"),
            )
        } else {
            (Reason::Offered, format!("the next poll for '{task_type}' gets it"))
        };
        Ok(Why { task, reason, message, until: None, ahead, workers })
    }

    /// Workers that are alive and poll the task's type, by name or pattern.
    async fn pollers_of(&self, task: &Task, now: Timestamp) -> Result<Vec<String>, Error> {
        let page = PageRequest { after: None, limit: WORKERS_LOOKED_AT_MAX };
        let since = Some(now.plus_millis(-DEAD_MS));
        let workers = self.parts.store.workers(&task.tenant, since, &page).await?;
        let alive = workers.into_iter().filter(|worker| worker.status_at(now) != WorkerStatus::Dead);
        let polls = alive.filter(|worker| {
            worker.task_types.iter().flatten().any(|wanted| pattern::matches(wanted, &task.task_type))
        });
        Ok(polls.map(|worker| worker.worker_id).take(WORKERS_NAMED_MAX).collect())
    }
}
