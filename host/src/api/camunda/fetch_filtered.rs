//! Fetches with filters or an order of their own, which the desk does not know: found by a query, and locked one by one
//! unless another was quicker.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::broadcast::error::RecvError;

use super::error::{CamundaError, Kind};
use super::fetch_request::{FetchRequest, Topic};
use crate::api::AppState;
use crate::dispatch::SWEEP_SECONDS;
use crate::domain::task::Task;
use crate::domain::{InstanceId, TenantId};
use crate::engine::port::query::{FoundTask, Sort, TaskQuery};

/// Polls with filters that may wait on one host.
const WAITING_MAX: usize = 1_000;
/// Tasks that are looked through for those with the right variables.
const CANDIDATES_MAX: u32 = 1_000;
/// How many more candidates than wanted: others may be quicker.
const SPARE: u32 = 8;

static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Waits for tasks.
pub(super) async fn wait(
    state: &AppState,
    tenant: &TenantId,
    request: &FetchRequest,
) -> Result<Vec<Task>, CamundaError> {
    let _place = Place::take()?;
    let deadline = Instant::now() + request.wait;
    let mut bell = state.node.hub.listen();
    loop {
        let tasks = try_once(state, tenant, request).await?;
        let left = deadline.saturating_duration_since(Instant::now());
        if !tasks.is_empty() || left.is_zero() {
            return Ok(tasks);
        }
        let nap = left.min(Duration::from_secs(SWEEP_SECONDS));
        let rung = async {
            loop {
                match bell.recv().await {
                    Ok(Some((whose, topic))) if whose != *tenant || !request.topics.contains_key(&topic) => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => return,
                    Err(RecvError::Closed) => std::future::pending().await,
                }
            }
        };
        tokio::select! {
            () = rung => {}
            () = tokio::time::sleep(nap) => {}
            () = state.node.stopping.cancelled() => return Ok(Vec::new()),
        }
    }
}

async fn try_once(
    state: &AppState,
    tenant: &TenantId,
    request: &FetchRequest,
) -> Result<Vec<Task>, CamundaError> {
    let mut found: Vec<(Task, i64)> = Vec::new();
    for (name, topic) in request.topics.iter().filter(|(_, topic)| !topic.filter.none) {
        let candidates = candidates(state, tenant, request, name, topic).await?;
        found.extend(candidates.into_iter().map(|found| (found.task, topic.lock_ms)));
    }
    found.sort_by_key(|(task, _)| {
        let age = task.created_at.millis();
        let age = if request.newest_first == Some(true) { -age } else { age };
        (if request.use_priority { task.priority } else { 0 }, age, task.id)
    });
    let mut locked = Vec::new();
    let mut rest = found.into_iter();
    while locked.len() < request.max_tasks as usize {
        let wanted = request.max_tasks as usize - locked.len();
        let next: Vec<(Task, i64)> = rest.by_ref().take(wanted).collect();
        if next.is_empty() {
            break;
        }
        locked.extend(state.node.engine.lock_found(next, &request.worker_id).await?);
    }
    Ok(locked)
}

async fn candidates(
    state: &AppState,
    tenant: &TenantId,
    request: &FetchRequest,
    name: &str,
    topic: &Topic,
) -> Result<Vec<FoundTask>, CamundaError> {
    let by_age = Sort { by: "createTime", desc: request.newest_first == Some(true) };
    let by_priority = Sort { by: "taskPriority", desc: true };
    let filter = &topic.filter;
    let query = TaskQuery {
        now: state.node.clock.now(),
        claimable: true,
        task_type: Some(name.to_owned()),
        business_key: filter.business_key.clone(),
        definition_ids: filter.definition_ids.clone(),
        workflow_keys: filter.workflow_keys.clone(),
        active: true,
        sorts: if request.use_priority { vec![by_priority, by_age] } else { vec![by_age] },
        rows_max: if filter.variables.is_empty() { request.max_tasks + SPARE } else { CANDIDATES_MAX },
        ..TaskQuery::default()
    };
    let mut found = state.node.store.find_tasks(tenant, &query).await?;
    if !filter.variables.is_empty() {
        let ids: HashSet<InstanceId> = found.iter().map(|found| found.task.workflow_instance_id).collect();
        let ids: Vec<InstanceId> = ids.into_iter().collect();
        let instances = state.node.store.instances_of(tenant, &ids).await?;
        let matches: HashMap<InstanceId, bool> = instances
            .into_iter()
            .map(|instance| {
                let same =
                    |(name, value): &(String, serde_json::Value)| instance.context.get(name) == Some(value);
                (instance.id, filter.variables.iter().any(same))
            })
            .collect();
        found.retain(|found| matches.get(&found.task.workflow_instance_id) == Some(&true));
    }
    Ok(found)
}

/// A place among those who wait.
struct Place;

impl Place {
    fn take() -> Result<Self, CamundaError> {
        if WAITING.fetch_add(1, Ordering::Relaxed) >= WAITING_MAX {
            WAITING.fetch_sub(1, Ordering::Relaxed);
            return Err(CamundaError::new(
                500,
                Kind::InvalidRequest,
                "At the moment the server has to handle too many requests at the same time. Please try again later.",
            ));
        }
        Ok(Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
}
