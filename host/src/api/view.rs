//! What clients see of tasks, steps, incidents and the journal: the columns, in camelCase.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::domain::Timestamp;
use crate::domain::incident::Incident;
use crate::domain::journal::JournalEntry;
use crate::domain::json::JsonText;
use crate::domain::page::Page;
use crate::domain::step::StepExecution;
use crate::domain::task::Task;
use crate::domain::transition::Failure;

/// A part of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PageView<T> {
    /// The rows.
    pub(super) items: Vec<T>,
    /// Pass it as `after` for the next page; null on the last one.
    pub(super) next: Option<String>,
}

impl<T> PageView<T> {
    /// A page from rows, of which the last may be one too many.
    pub(super) fn of<R>(rows: Vec<R>, limit: u32, id: impl Fn(&R) -> Uuid, view: impl Fn(R) -> T) -> Self {
        let page = Page::from_rows(rows, limit, id);
        Self { items: page.items.into_iter().map(view).collect(), next: page.next.map(|id| id.to_string()) }
    }
}

/// A task, as workers and operators see it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Task)]
pub(super) struct TaskView {
    id: Uuid,
    workflow_instance_id: Uuid,
    workflow_key: String,
    business_key: Option<String>,
    step_id: String,
    task_type: String,
    /// 1 is first.
    priority: i64,
    /// What the worker gets.
    input: Value,
    /// What the worker returned.
    output: Option<Value>,
    worker_id: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    locked_at: Option<Timestamp>,
    lock_duration_seconds: f64,
    #[schema(value_type = Option<String>, format = DateTime)]
    lock_expires_at: Option<Timestamp>,
    /// Send it back as `X-Lock-Token`: it proves that the task is still yours.
    pub(super) lock_token: Option<Uuid>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_heartbeat_at: Option<Timestamp>,
    heartbeat_interval_seconds: Option<f64>,
    heartbeat_max_missed: i32,
    #[schema(value_type = Option<String>, format = DateTime)]
    timeout_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    completed_at: Option<Timestamp>,
    /// PENDING, LOCKED, COMPLETED, FAILED or CANCELLED.
    status: &'static str,
    /// Attempts spent.
    retry_count: i32,
    /// Attempts in all.
    max_retries: i32,
    /// Locks that ran out.
    lock_expiries: i32,
    error_message: Option<String>,
    error_code: Option<String>,
    error_details: Option<String>,
    /// What an earlier attempt wanted this one to know.
    checkpoint: Option<Value>,
    #[schema(value_type = String, format = DateTime)]
    available_at: Timestamp,
    /// The W3C trace context to go on with.
    traceparent: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    version: i64,
}

impl From<Task> for TaskView {
    fn from(task: Task) -> Self {
        Self {
            id: task.id.0,
            workflow_instance_id: task.workflow_instance_id.0,
            workflow_key: task.workflow_key,
            business_key: task.business_key,
            step_id: task.step_id,
            task_type: task.task_type,
            priority: task.priority,
            input: task.input,
            output: task.output,
            worker_id: task.worker_id,
            locked_at: task.locked_at,
            lock_duration_seconds: task.lock_duration_seconds,
            lock_expires_at: task.lock_expires_at,
            lock_token: task.lock_token.map(|token| token.0),
            last_heartbeat_at: task.last_heartbeat_at,
            heartbeat_interval_seconds: task.heartbeat_interval_seconds,
            heartbeat_max_missed: task.heartbeat_max_missed,
            timeout_at: task.timeout_at,
            completed_at: task.completed_at,
            status: task.status.label(),
            retry_count: task.retry_count,
            max_retries: task.max_retries,
            lock_expiries: task.lock_expiries,
            error_message: task.error_message,
            error_code: task.error_code,
            error_details: task.error_details,
            checkpoint: task.checkpoint,
            available_at: task.available_at,
            traceparent: task.traceparent,
            created_at: task.created_at,
            updated_at: task.updated_at,
            version: task.version,
        }
    }
}

/// Why a step or an instance failed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Failure)]
pub(super) struct FailureView {
    code: String,
    message: String,
    details: Value,
}

impl From<Failure> for FailureView {
    fn from(failure: Failure) -> Self {
        Self { code: failure.code, message: failure.message, details: failure.details }
    }
}

/// A step of an instance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Step)]
pub(super) struct StepView {
    /// The step's id within its workflow.
    id: String,
    execution_id: Uuid,
    #[serde(rename = "type")]
    step_type: String,
    /// pending, running, waiting, completed, failed, cancelled, skipped or incident.
    status: &'static str,
    /// From 1.
    attempt: i32,
    /// The component that decides it.
    plugin: Option<String>,
    output: Option<Value>,
    error: Option<FailureView>,
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<Timestamp>,
}

impl From<StepExecution> for StepView {
    fn from(step: StepExecution) -> Self {
        Self {
            id: step.step_id,
            execution_id: step.id.0,
            step_type: step.step_type,
            status: step.status.label(),
            attempt: step.attempt,
            plugin: step.plugin_digest.map(|digest| digest.to_string()),
            output: step.output,
            error: step.error.map(Into::into),
            started_at: step.started_at,
            ended_at: step.ended_at,
        }
    }
}

/// An incident: a plugin is at fault, its step is held.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Incident)]
pub(super) struct IncidentView {
    id: Uuid,
    instance_id: Uuid,
    step_id: String,
    code: String,
    message: String,
    plugin: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    resolved_at: Option<Timestamp>,
}

impl From<Incident> for IncidentView {
    fn from(incident: Incident) -> Self {
        Self {
            id: incident.id.0,
            instance_id: incident.instance_id.0,
            step_id: incident.step_id,
            code: incident.code,
            message: incident.message,
            plugin: incident.plugin_digest.map(|digest| digest.to_string()),
            created_at: incident.created_at,
            resolved_at: incident.resolved_at,
        }
    }
}

/// A line of an instance's timeline.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TimelineEntry)]
pub(super) struct EntryView {
    id: Uuid,
    seq: i64,
    /// `start`, `event`, `transform`, or what happened to the instance.
    kind: String,
    step_id: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The component that decided.
    plugin: Option<String>,
    note: Option<String>,
    fuel: Option<i64>,
    memory_bytes: Option<i64>,
    /// The call, with `details=true`; big parts are named by their hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Value>,
    /// The answer, with `details=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
}

impl EntryView {
    pub(super) fn new(entry: JournalEntry, details: bool) -> Self {
        let json = |text: Option<JsonText>| {
            text.filter(|_| details).and_then(|text| serde_json::from_str(text.as_str()).ok())
        };
        Self {
            id: entry.id,
            seq: entry.seq,
            kind: entry.kind,
            step_id: entry.step_id,
            at: entry.at,
            plugin: entry.plugin_digest.map(|digest| digest.to_string()),
            note: entry.note,
            fuel: entry.fuel,
            memory_bytes: entry.memory_bytes,
            call: json(entry.call),
            answer: json(entry.answer),
        }
    }
}
