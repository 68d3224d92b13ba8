//! Reports under Camunda's rules: whoever locked a task last speaks for it, also after the lock's end, until somebody
//! else takes it; and the worker alone says how many attempts are left.

use std::sync::Arc;

use serde_json::{Value, json};

use super::camunda_lock::released;
use super::report::availability;
use crate::domain::event::Event;
use crate::domain::task::{LOCAL_VARIABLES, Task, TaskStatus};
use crate::domain::transition::BUSINESS_ERROR;
use crate::domain::variable::Patch;
use crate::domain::{TaskId, TenantId, Timestamp};
use crate::engine::mailbox::Taken;
use crate::engine::signal::Signal;
use crate::engine::{Engine, Error, record};
use crate::metrics as names;

/// Why a report or a change of a lock was refused.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refused {
    /// There is no such open task.
    #[error("there is no such task")]
    Unknown,
    /// Another worker holds it, or nobody does.
    #[error("another worker holds the task")]
    Owner(Option<String>),
    /// The lock has run out.
    #[error("the lock ran out before {0}")]
    Expired(Timestamp),
    /// Anything else.
    #[error(transparent)]
    Other(#[from] Error),
}

/// A worker's failure: it decides what is left.
#[derive(Clone, Debug, Default)]
pub struct OwnerFailure {
    /// For people.
    pub message: Option<String>,
    /// Such as a stack trace; what was there stays if it is absent.
    pub details: Option<String>,
    /// Attempts left; none means an incident.
    pub retries: i32,
    /// Not offered before.
    pub retry_timeout_ms: i64,
    /// What the next attempt shall see in the task's own scope.
    pub local: Option<Value>,
}

/// What becomes of a task.
enum Deed {
    Ended(Box<Task>, Event),
    Offered(Box<Task>, String),
    Held(Box<Task>, Event),
    Nothing,
}

impl Engine {
    /// Completes a task, with variables for its instance. A repeat after a lost answer changes nothing.
    pub async fn complete_as_owner(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        worker: &str,
        output: Value,
        patch: &Patch,
    ) -> Result<(), Refused> {
        self.check_payload("output", &output)?;
        let rule = |task: &Task, now| {
            if task.status == TaskStatus::Completed && task.worker_id.as_deref() == Some(worker) {
                return Ok(Deed::Nothing);
            }
            owned(task, worker)?;
            let worker = worker.to_owned();
            let event = Event::TaskCompleted { key: task.key.clone(), worker, output: output.clone() };
            let mut next = ended(task, now);
            next.output = Some(output.clone());
            Ok(Deed::Ended(Box::new(next), event))
        };
        self.report_as_owner(tenant, id, patch, names::TASKS_COMPLETED, rule).await
    }

    /// Ends a task with a business error, which goes to the step's `onError`.
    pub async fn business_error(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        worker: &str,
        (code, message): (&str, Option<&str>),
        patch: &Patch,
    ) -> Result<(), Refused> {
        let rule = |task: &Task, now| {
            let repeated = task.status == TaskStatus::Completed && task.error_code.as_deref() == Some(code);
            if repeated && task.worker_id.as_deref() == Some(worker) {
                return Ok(Deed::Nothing);
            }
            owned(task, worker)?;
            let mut next = ended(task, now);
            next.error_code = Some(code.to_owned());
            next.error_message = message.map(ToOwned::to_owned);
            let event = Event::TaskFailed {
                key: task.key.clone(),
                code: code.to_owned(),
                message: message.unwrap_or_default().to_owned(),
                retries_left: 0,
                details: json!({ BUSINESS_ERROR: true, "taskId": task.id }),
            };
            Ok(Deed::Ended(Box::new(next), event))
        };
        self.report_as_owner(tenant, id, patch, names::TASKS_COMPLETED, rule).await
    }

    /// Fails a task: it is offered again after a while, or held with an incident.
    pub async fn fail_as_owner(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        worker: &str,
        failure: &OwnerFailure,
        patch: &Patch,
    ) -> Result<(), Refused> {
        let bytes = [&failure.message, &failure.details].into_iter().flatten().map(String::len).sum();
        self.check_bytes("failure", bytes)?;
        if let Some(local) = &failure.local {
            self.check_payload("localVariables", local)?;
        }
        if !patch.is_empty() {
            let task = self.open_task(tenant, id).await?;
            owned(&task, worker)?;
            self.change_variables(tenant, task.workflow_instance_id, patch).await?;
        }
        let rule = |task: &Task, now| {
            owned(task, worker)?;
            if task.status == TaskStatus::Failed && failure.retries <= 0 {
                return Ok(Deed::Nothing);
            }
            let deed = failed(task, failure, now);
            if let Deed::Offered(next, _) | Deed::Held(next, _) = &deed
                && let Some(checkpoint) = &next.checkpoint
            {
                self.check_payload("localVariables of all attempts", checkpoint)?;
            }
            Ok(deed)
        };
        self.report_as_owner(tenant, id, &Patch::default(), names::TASKS_FAILED, rule).await
    }

    /// A task that Camunda would call open: given up is open, too.
    pub(super) async fn open_task(&self, tenant: &TenantId, id: TaskId) -> Result<Task, Refused> {
        let task = self.parts.store.task(tenant, id).await.map_err(Error::from)?;
        task.filter(|task| task.status.open() || task.status == TaskStatus::Failed).ok_or(Refused::Unknown)
    }

    async fn report_as_owner(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        patch: &Patch,
        counter: &'static str,
        rule: impl Fn(&Task, Timestamp) -> Result<Deed, Refused>,
    ) -> Result<(), Refused> {
        // Memory counts only if a commit confirms it.
        if let Some(task) = self.recent.take_task(tenant, id)
            && let Ok(deed) = rule(&task, self.parts.clock.now())
            && !matches!(deed, Deed::Nothing)
            && self.carry_out(&task, deed, patch, counter).await?
        {
            return Ok(());
        }
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let task =
                self.parts.store.task(tenant, id).await.map_err(Error::from)?.ok_or(Refused::Unknown)?;
            if task.status == TaskStatus::Failed {
                // Its worker goes on although it had given up. Who may not speak for it is refused before anything
                // is changed, and what has ended is for an operator to revive.
                if matches!(rule(&task, self.parts.clock.now())?, Deed::Nothing) {
                    return Ok(());
                }
                if self.has_ended(&task).await? {
                    return Err(Refused::Unknown);
                }
                self.set_retries(tenant, id, 1).await?;
                continue;
            }
            let deed = rule(&task, self.parts.clock.now())?;
            if self.carry_out(&task, deed, patch, counter).await? {
                return Ok(());
            }
        }
        let message = format!("task {id} keeps changing; try again");
        Err(Error::Busy { code: "task_busy", message }.into())
    }

    /// Whether it is written; not if the row has changed in between.
    async fn carry_out(
        self: &Arc<Self>,
        read: &Task,
        deed: Deed,
        patch: &Patch,
        counter: &'static str,
    ) -> Result<bool, Error> {
        let (instance, read_version) = (read.workflow_instance_id, read.version);
        let written = match deed {
            Deed::Nothing => return Ok(true),
            Deed::Ended(task, event) => {
                let signal = Signal::TaskEnded { task, read_version, event, patch: patch.clone() };
                matches!(self.send(&read.tenant, instance, signal).await?, Taken::Done)
            }
            Deed::Held(task, event) => {
                let signal = Signal::TaskHeld { task, read_version, event };
                matches!(self.send(&read.tenant, instance, signal).await?, Taken::Done)
            }
            Deed::Offered(next, note) => {
                let now = self.parts.clock.now();
                let line = record::task_retry(&next, now, note);
                self.write_task(read, &next, vec![line], availability(&next, now)).await?
            }
        };
        if written {
            metrics::counter!(counter, "task_type" => read.task_type.clone()).increment(1);
            self.credit(read, counter, self.parts.clock.now());
        }
        Ok(written)
    }
}

/// Whether a worker may speak for a task.
pub(super) fn owned(task: &Task, worker: &str) -> Result<(), Refused> {
    if !task.status.open() && task.status != TaskStatus::Failed {
        return Err(Refused::Unknown);
    }
    if task.worker_id.as_deref() == Some(worker) {
        return Ok(());
    }
    Err(Refused::Owner(task.worker_id.clone()))
}

fn failed(task: &Task, failure: &OwnerFailure, now: Timestamp) -> Deed {
    let mut next = task.clone();
    next.retry_count = next.retry_count.saturating_add(1);
    next.max_retries = next.retry_count.saturating_add(failure.retries);
    next.error_code = Some("task_failed".into());
    next.error_message.clone_from(&failure.message);
    if failure.details.is_some() {
        next.error_details.clone_from(&failure.details);
    }
    if let Some(local) = &failure.local {
        next.checkpoint = Some(merged(next.checkpoint.take(), local));
    }
    if failure.retries > 0 {
        let note = format!("failed, {} attempts left: {}", failure.retries, words(&next));
        return Deed::Offered(Box::new(released(next, now.plus_millis(failure.retry_timeout_ms), now)), note);
    }
    let event = given_up(&next, words(&next));
    let mut next = ended(&next, now);
    next.status = TaskStatus::Failed;
    Deed::Held(Box::new(next), event)
}

/// What the step is told of a task that was given up, should an operator let it.
pub(super) fn given_up(task: &Task, message: String) -> Event {
    Event::TaskFailed {
        key: task.key.clone(),
        code: "task_failed".into(),
        message,
        retries_left: 0,
        details: json!({ "taskId": task.id, "stackTrace": task.error_details }),
    }
}

fn merged(checkpoint: Option<Value>, local: &Value) -> Value {
    let mut members = match checkpoint {
        Some(Value::Object(members)) => members,
        Some(other) => serde_json::Map::from_iter([("checkpoint".to_owned(), other)]),
        None => serde_json::Map::new(),
    };
    let known = members.entry(LOCAL_VARIABLES).or_insert_with(|| json!({}));
    if let (Value::Object(known), Value::Object(local)) = (known, local) {
        known.extend(local.clone());
    }
    Value::Object(members)
}

fn words(task: &Task) -> String {
    task.error_message.clone().unwrap_or_else(|| "the worker gave no reason".into())
}

fn ended(task: &Task, now: Timestamp) -> Task {
    let mut next = task.clone();
    next.status = TaskStatus::Completed;
    next.completed_at = Some(now);
    next.updated_at = now;
    next.lock_expires_at = None;
    next.due_at = None;
    next.version += 1;
    next
}
