//! Tasks as Camunda writes them: all keys are there, nulls included.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::value::DATE;
use crate::domain::instance::InstanceStatus;
use crate::domain::task::{Task, TaskStatus};
use crate::domain::{TenantId, Timestamp};
use crate::engine::port::query::FoundTask;

/// Stepwell's priority 5 is Camunda's 0, and the other way round it counts.
const PRIORITY_ZERO: i64 = 5;

/// JSON with exactly the content type that clients compare with.
pub(super) fn answer(value: &Value) -> Response {
    let mut response = value.to_string().into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A moment, with a zone without a colon.
pub(super) fn date(at: Timestamp) -> String {
    DateTime::<Utc>::from_timestamp_millis(at.millis()).unwrap_or_default().format(DATE).to_string()
}

/// The same where there may be none.
pub(super) fn date_or_null(at: Option<Timestamp>) -> Value {
    at.map(date).into()
}

/// Camunda's priority of Stepwell's, and back: the same sum.
pub(super) fn priority(priority: i64) -> i64 {
    PRIORITY_ZERO.saturating_sub(priority)
}

/// Attempts left: not known until a worker has failed the task, or somebody has set them.
pub(super) fn retries(task: &Task) -> Option<i32> {
    if task.status == TaskStatus::Failed {
        return Some(0);
    }
    (task.retry_count > 0).then(|| task.max_retries.saturating_sub(task.retry_count).max(0))
}

/// The default tenant is none in Camunda's words.
pub(super) fn tenant_id(tenant: &TenantId) -> Option<&str> {
    Some(tenant.as_str()).filter(|name| *name != TenantId::DEFAULT)
}

/// `key:version`.
pub(super) fn definition_id(key: &str, version: i32) -> String {
    format!("{key}:{version}")
}

/// A workflow's version and its tag.
pub(super) type Version<'a> = (i32, Option<&'a str>);

/// A task. `version` is that of its workflow, where it is known.
pub(super) fn task(task: &Task, version: Option<Version<'_>>, status: InstanceStatus) -> Value {
    json!({
        "id": task.id,
        "topicName": task.task_type,
        "workerId": task.worker_id,
        "lockExpirationTime": date_or_null(task.locked_until()),
        "createTime": date(task.created_at),
        "processInstanceId": task.workflow_instance_id,
        "executionId": task.step_execution_id,
        "activityId": task.step_id,
        "activityInstanceId": format!("{}:{}", task.step_id, task.step_execution_id),
        "processDefinitionId": version.map(|(version, _)| definition_id(&task.workflow_key, version)),
        "processDefinitionKey": task.workflow_key,
        "processDefinitionVersionTag": version.and_then(|(_, tag)| tag),
        "tenantId": tenant_id(&task.tenant),
        "businessKey": task.business_key,
        "priority": priority(task.priority),
        "retries": retries(task),
        "errorMessage": task.error_message,
        "suspended": status == InstanceStatus::Paused,
    })
}

/// A task as a query has found it.
pub(super) fn found(found: &FoundTask) -> Value {
    let version = (found.workflow_version, found.version_tag.as_deref());
    task(&found.task, Some(version), found.instance_status)
}

/// A task that was handed out.
pub(super) fn locked(
    handed: &Task,
    version: Option<Version<'_>>,
    variables: Value,
    properties: Value,
) -> Value {
    let mut shown = task(handed, version, InstanceStatus::Waiting);
    shown["errorDetails"] = handed.error_details.clone().into();
    shown["variables"] = variables;
    shown["extensionProperties"] = properties;
    shown
}
