//! Attempts of many tasks at once.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::http::StatusCode;

use super::body::{Body, Fields};
use super::caller::Operator;
use super::error::{CamundaError, Kind};
use super::locks::attempts;
use super::query::matching;
use super::query_filters::{self, Question};
use crate::api::AppState;
use crate::domain::{InstanceId, TaskId, TenantId};
use crate::engine::Refused;
use crate::engine::port::query::TaskQuery;

/// Sets the attempts of many tasks, and answers when it is done.
pub(super) async fn set_many(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Body(fields): Body,
) -> Result<StatusCode, CamundaError> {
    let (retries, ids) = selected(&state, &tenant, &fields).await?;
    for id in ids {
        let done = state.node.engine.set_retries(&tenant, id, retries).await;
        done.map_err(|refused| match refused {
            Refused::Unknown => unknown(&id.to_string()),
            refused => CamundaError::refused(refused, id, |owner| format!("locked by worker {owner}")),
        })?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// How many attempts, of which tasks: those of every list and query together.
pub(super) async fn selected(
    state: &AppState,
    tenant: &TenantId,
    fields: &Fields,
) -> Result<(i32, BTreeSet<TaskId>), CamundaError> {
    let retries = attempts(fields.int("retries")?, Kind::InvalidRequest)?;
    let mut ids: BTreeSet<TaskId> = BTreeSet::new();
    for id in fields.texts("externalTaskIds")?.unwrap_or_default() {
        ids.insert(id.parse().map_err(|_| unknown(&id))?);
    }
    let mut instances: Vec<InstanceId> = Vec::new();
    for id in fields.texts("processInstanceIds")?.unwrap_or_default() {
        instances.extend(id.parse::<InstanceId>().ok());
    }
    let now = state.node.clock.now();
    let mut questions = Vec::new();
    if !instances.is_empty() {
        let query = TaskQuery { now, instance_ids: Some(instances), ..TaskQuery::default() };
        questions.push(Question { query, variables: Vec::new(), none: false });
    }
    if let Some(query) = fields.object("externalTaskQuery")? {
        questions.push(query_filters::read(&query, false, tenant, now)?);
    }
    for name in ["processInstanceQuery", "historicProcessInstanceQuery"] {
        if let Some(query) = fields.object(name)? {
            questions.push(of_instances(&query, now)?);
        }
    }
    for question in questions.into_iter().filter(|question| !question.none) {
        ids.extend(matching(state, tenant, question).await?.into_iter().map(|found| found.task.id));
    }
    if ids.is_empty() {
        return Err(CamundaError::invalid("externalTaskIds is empty"));
    }
    Ok((retries, ids))
}

fn unknown(id: &str) -> CamundaError {
    let message = format!("Cannot find external task with id {id}: externalTask is null");
    CamundaError::new(404, Kind::InvalidRequest, message)
}

/// Tasks of the instances that a query of instances would find, as far as tasks know them.
fn of_instances(query: &Fields, now: crate::domain::Timestamp) -> Result<Question, CamundaError> {
    let ids = query.filled("processInstanceIds")?;
    let ids = ids.map(|ids| ids.iter().filter_map(|id| id.parse().ok()).map(InstanceId).collect());
    let query = TaskQuery {
        now,
        instance_ids: ids,
        workflow_keys: query.text("processDefinitionKey")?.map(|key| vec![key]),
        definition_ids: query.text("processDefinitionId")?.map(|id| vec![id]),
        business_key: match query.text("businessKey")? {
            Some(key) => Some(key),
            None => query.text("processInstanceBusinessKey")?,
        },
        ..TaskQuery::default()
    };
    Ok(Question { query, variables: Vec::new(), none: false })
}
