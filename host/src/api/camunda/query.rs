//! Lists of tasks, counts, single tasks, topics.

use std::collections::HashMap;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::body::{Body, Fields, Names, Params};
use super::caller::Worker;
use super::error::CamundaError;
use super::query_filters::{self, Question};
use super::reports::task_id;
use super::view;
use crate::api::AppState;
use crate::domain::instance::Instance;
use crate::domain::{InstanceId, TenantId};
use crate::engine::port::query::{FoundTask, TaskQuery, TypeQuery};

/// Rows of one answer.
const ROWS_MAX: u32 = 10_000;
/// Tasks that are looked through for those with the right variables.
const SCAN_ROWS_MAX: u32 = 5_000;
/// Tasks of one look, whose instances are read with all their variables.
const SCAN_PAGE_ROWS: u32 = 250;
/// The same where no variables are read.
const PLAIN_ROWS_MAX: u32 = 100_000;
const PLAIN_PAGE_ROWS: u32 = 10_000;

/// Lists tasks by a query string.
pub(super) async fn list(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    let question = query_filters::read(&params, true, &tenant, state.node.clock.now())?;
    rows(&state, &tenant, question, &params).await
}

/// Lists tasks by a body; the page is in the query string all the same.
pub(super) async fn search(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
    Body(fields): Body,
) -> Result<Response, CamundaError> {
    let question = query_filters::read(&fields, false, &tenant, state.node.clock.now())?;
    rows(&state, &tenant, question, &params).await
}

/// Counts tasks by a query string.
pub(super) async fn count(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    let question = query_filters::read(&params, true, &tenant, state.node.clock.now())?;
    number(&state, &tenant, question).await
}

/// Counts tasks by a body.
pub(super) async fn count_search(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Body(fields): Body,
) -> Result<Response, CamundaError> {
    let question = query_filters::read(&fields, false, &tenant, state.node.clock.now())?;
    number(&state, &tenant, question).await
}

/// Shows a task.
pub(super) async fn show(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
) -> Result<Response, CamundaError> {
    Ok(view::answer(&view::found(&one(&state, &tenant, &id).await?)))
}

/// The details of a task's last error, as text; 204 if there are none.
pub(super) async fn error_details(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
) -> Result<Response, CamundaError> {
    let found = one(&state, &tenant, &id).await?;
    Ok(match found.task.error_details.filter(|details| !details.is_empty()) {
        Some(details) => ([(CONTENT_TYPE, "text/plain")], details).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// The topics of open tasks.
pub(super) async fn topic_names(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    let query = TypeQuery {
        now: state.node.clock.now(),
        locked: params.flag("withLockedTasks")?,
        not_locked: params.flag("withUnlockedTasks")?,
        retries_left: params.flag("withRetriesLeft")?,
    };
    Ok(view::answer(&json!(state.node.store.task_types(&tenant, &query).await?)))
}

async fn one(state: &AppState, tenant: &TenantId, id: &str) -> Result<FoundTask, CamundaError> {
    let ids = Some(vec![task_id(id)?]);
    let query = TaskQuery { now: state.node.clock.now(), ids, rows_max: 1, ..TaskQuery::default() };
    state.node.store.find_tasks(tenant, &query).await?.pop().ok_or_else(|| CamundaError::no_task(id))
}

async fn rows(
    state: &AppState,
    tenant: &TenantId,
    mut question: Question,
    params: &Fields,
) -> Result<Response, CamundaError> {
    let page = |name: &str| -> Result<Option<u32>, CamundaError> {
        let given = params.long(name)?;
        given.map(|number| u32::try_from(number.max(0)).unwrap_or(u32::MAX)).map(Ok).transpose()
    };
    let (offset, wanted) = (page("firstResult")?.unwrap_or(0), page("maxResults")?);
    let limit = wanted.unwrap_or(ROWS_MAX + 1);
    if wanted.is_some_and(|wanted| wanted > ROWS_MAX) {
        return Err(CamundaError::invalid(format!("Max results limit of {ROWS_MAX} exceeded!")));
    }
    let found = if question.none {
        Vec::new()
    } else if question.variables.is_empty() {
        (question.query.offset, question.query.rows_max) = (offset, limit);
        state.node.store.find_tasks(tenant, &question.query).await?
    } else {
        let matching = matching(state, tenant, question).await?;
        matching.into_iter().skip(offset as usize).take(limit as usize).collect()
    };
    if found.len() > ROWS_MAX as usize {
        let message = format!(
            "An unbound number of results is forbidden! There are more than {ROWS_MAX}; set maxResults"
        );
        return Err(CamundaError::invalid(message));
    }
    Ok(view::answer(&Value::Array(found.iter().map(view::found).collect())))
}

async fn number(state: &AppState, tenant: &TenantId, question: Question) -> Result<Response, CamundaError> {
    let count = if question.none {
        0
    } else if question.variables.is_empty() {
        state.node.store.count_tasks(tenant, &question.query).await?
    } else {
        i64::try_from(matching(state, tenant, question).await?.len()).unwrap_or(i64::MAX)
    };
    Ok(view::answer(&json!({ "count": count })))
}

/// Tasks whose instances have certain variables: those are looked at one by one.
pub(super) async fn matching(
    state: &AppState,
    tenant: &TenantId,
    mut question: Question,
) -> Result<Vec<FoundTask>, CamundaError> {
    let mut matching = Vec::new();
    let (rows_max, page_rows) = match question.variables.is_empty() {
        true => (PLAIN_ROWS_MAX, PLAIN_PAGE_ROWS),
        false => (SCAN_ROWS_MAX, SCAN_PAGE_ROWS),
    };
    question.query.rows_max = page_rows;
    loop {
        let found = state.node.store.find_tasks(tenant, &question.query).await?;
        let last = found.len() < page_rows as usize;
        let ids: Vec<InstanceId> = found.iter().map(|found| found.task.workflow_instance_id).collect();
        let instances = if question.variables.is_empty() {
            HashMap::new()
        } else {
            let instances = state.node.store.instances_of(tenant, &ids).await?;
            instances.into_iter().map(|instance| (instance.id, instance)).collect::<HashMap<_, Instance>>()
        };
        matching.extend(found.into_iter().filter(|found| {
            let instance = instances.get(&found.task.workflow_instance_id);
            question
                .variables
                .iter()
                .all(|wanted| instance.is_some_and(|instance| wanted.holds(&instance.context)))
        }));
        question.query.offset += page_rows;
        if last {
            return Ok(matching);
        }
        if question.query.offset >= rows_max {
            let message =
                format!("more than {rows_max} tasks would have to be looked through; narrow the query");
            return Err(CamundaError::invalid(message));
        }
    }
}
