//! Process instances: lists, counts, and one by one.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use serde_json::{Map, Value, json};

use super::body::{Body, Fields, Names, Params};
use super::caller::Worker;
use super::error::{CamundaError, Kind};
use super::query_filters::{Condition, conditions, listed};
use super::value;
use super::view::{self, definition_id, tenant_id};
use crate::api::AppState;
use crate::domain::instance::{Instance, InstanceStatus};
use crate::domain::page::PageRequest;
use crate::domain::variable::of_context;
use crate::domain::{InstanceId, TenantId};
use crate::engine::port::store::InstanceFilter;

/// Rows of one answer.
const ROWS_MAX: u32 = 500;
/// Rows in each state that are looked through for a later page, or counted.
const COUNTED_MAX: usize = 10_000;

/// The routes.
pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/process-instance", get(list).post(list_by_body))
        .route("/process-instance/count", get(count).post(count_by_body))
        .route("/process-instance/{id}", get(show))
}

/// Which instances. What is absent filters nothing.
struct Wish {
    ids: Option<Vec<InstanceId>>,
    definition_id: Option<String>,
    keys: Option<Vec<String>>,
    business_key: Option<String>,
    suspended: Option<bool>,
    with_incident: bool,
    variables: Vec<Condition>,
    /// None at all: another tenant's.
    none: bool,
}

impl Wish {
    fn read(fields: &Fields, from_url: bool, tenant: &TenantId) -> Result<Self, CamundaError> {
        let ours = tenant_id(tenant);
        let foreign = match listed(fields, "tenantIdIn", from_url)? {
            Some(tenants) => !ours.is_some_and(|ours| tenants.iter().any(|tenant| tenant == ours)),
            None => fields.flag("withoutTenantId")? && ours.is_some(),
        };
        // What is no id matches nothing.
        let ids = listed(fields, "processInstanceIds", from_url)?;
        let ids = ids.map(|ids| ids.iter().filter_map(|id| id.parse().ok()).map(InstanceId).collect());
        let (active, suspended) = (fields.flag("active")?, fields.flag("suspended")?);
        let key = fields.text("processDefinitionKey")?;
        Ok(Self {
            ids,
            definition_id: fields.text("processDefinitionId")?,
            keys: match key {
                Some(key) => Some(vec![key]),
                None => listed(fields, "processDefinitionKeyIn", from_url)?,
            },
            business_key: fields.text("businessKey")?,
            suspended: (active || suspended).then_some(suspended),
            with_incident: fields.flag("withIncident")?,
            variables: conditions(fields, "variables", from_url)?,
            none: foreign || (active && suspended),
        })
    }

    fn holds(&self, instance: &Instance) -> bool {
        let definition = || definition_id(&instance.workflow_key, instance.workflow_version);
        !instance.status.ended()
            && self.definition_id.as_ref().is_none_or(|id| *id == definition())
            && self.keys.as_ref().is_none_or(|keys| keys.contains(&instance.workflow_key))
            && self.business_key.as_ref().is_none_or(|key| instance.business_key.as_ref() == Some(key))
            && self.suspended.is_none_or(|wanted| wanted == (instance.status == InstanceStatus::Paused))
            && (!self.with_incident || instance.status == InstanceStatus::Incident)
            && self.variables.iter().all(|wanted| wanted.holds(&instance.context))
    }
}

/// An instance as Camunda writes it.
pub(super) fn view(instance: &Instance) -> Value {
    json!({
        "links": [],
        "id": instance.id,
        "definitionId": definition_id(&instance.workflow_key, instance.workflow_version),
        "definitionKey": instance.workflow_key,
        "businessKey": instance.business_key,
        "caseInstanceId": null,
        "ended": instance.status.ended(),
        "suspended": instance.status == InstanceStatus::Paused,
        "tenantId": tenant_id(&instance.tenant),
    })
}

/// The variables of a context.
pub(super) fn variables_of(context: &Value, deserialize: bool) -> Value {
    let shown: Map<String, Value> = of_context(context)
        .map(|(name, value, note)| (name.clone(), value::write(value, note, deserialize)))
        .collect();
    Value::Object(shown)
}

async fn list(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    page(&state, &tenant, &Wish::read(&params, true, &tenant)?, &params).await
}

/// The page is in the query string all the same.
async fn list_by_body(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
    Body(fields): Body,
) -> Result<Response, CamundaError> {
    page(&state, &tenant, &Wish::read(&fields, false, &tenant)?, &params).await
}

async fn count(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Params(params): Params,
) -> Result<Response, CamundaError> {
    number(&state, &tenant, &Wish::read(&params, true, &tenant)?).await
}

async fn count_by_body(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Body(fields): Body,
) -> Result<Response, CamundaError> {
    number(&state, &tenant, &Wish::read(&fields, false, &tenant)?).await
}

async fn number(state: &AppState, tenant: &TenantId, wish: &Wish) -> Result<Response, CamundaError> {
    Ok(view::answer(&json!({ "count": open(state, tenant, wish, COUNTED_MAX).await?.len() })))
}

/// Instances that have not ended, the newest first: a page of them.
async fn page(
    state: &AppState,
    tenant: &TenantId,
    wish: &Wish,
    params: &Fields,
) -> Result<Response, CamundaError> {
    let bounded = |given: i64, most: usize| usize::try_from(given.max(0)).unwrap_or(most).min(most);
    let first = bounded(params.long("firstResult")?.unwrap_or(0), COUNTED_MAX);
    let most = bounded(params.long("maxResults")?.unwrap_or(i64::from(ROWS_MAX)), ROWS_MAX as usize);
    let open = open(state, tenant, wish, first.saturating_add(most).min(COUNTED_MAX)).await?;
    Ok(view::answer(&Value::Array(open.iter().skip(first).take(most).map(view).collect())))
}

/// Instances that have not ended, the newest first, state by state as the index has them; up to so many of each.
async fn open(
    state: &AppState,
    tenant: &TenantId,
    wish: &Wish,
    most: usize,
) -> Result<Vec<Instance>, CamundaError> {
    let mut open = Vec::new();
    if let Some(ids) = wish.ids.as_ref().filter(|_| !wish.none) {
        let ids = &ids[..ids.len().min(COUNTED_MAX)];
        open = state.node.store.instances_of(tenant, ids).await?;
        open.retain(|instance| wish.holds(instance));
    } else if !wish.none {
        for status in InstanceStatus::ALL.into_iter().filter(|status| !status.ended()) {
            open.append(&mut in_state(state, tenant, wish, status, most).await?);
        }
    }
    open.sort_by_key(|instance| std::cmp::Reverse(instance.id));
    Ok(open)
}

async fn in_state(
    state: &AppState,
    tenant: &TenantId,
    wish: &Wish,
    status: InstanceStatus,
    most: usize,
) -> Result<Vec<Instance>, CamundaError> {
    let workflow_key = wish.keys.as_ref().filter(|keys| keys.len() == 1).and_then(|keys| keys.first());
    let filter = InstanceFilter {
        workflow_key: workflow_key.cloned(),
        status: Some(status),
        business_key: wish.business_key.clone(),
    };
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let mut page = PageRequest { after: None, limit: ROWS_MAX };
    while found.len() < most && looked_at < COUNTED_MAX {
        let mut rows = state.node.store.instances(tenant, &filter, &page).await?;
        let more = rows.len() > ROWS_MAX as usize;
        rows.truncate(ROWS_MAX as usize);
        page.after = rows.last().map(|instance| instance.id.0);
        looked_at += rows.len();
        found.extend(rows.into_iter().filter(|instance| wish.holds(instance)));
        if !more {
            break;
        }
    }
    found.truncate(most);
    Ok(found)
}

async fn show(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Names(id): Names<String>,
) -> Result<Response, CamundaError> {
    let missing = || {
        CamundaError::new(404, Kind::InvalidRequest, format!("Process instance with id {id} does not exist"))
    };
    let found = match id.parse::<InstanceId>() {
        Ok(id) => state.node.store.instance(&tenant, id).await?,
        Err(_) => None,
    };
    let instance = found.filter(|instance| !instance.status.ended()).ok_or_else(missing)?;
    Ok(view::answer(&view(&instance)))
}
