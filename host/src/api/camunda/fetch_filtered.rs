//! Fetches with filters or an order of their own, which the desk does not know: found by a query, and locked one by one
//! unless another was quicker. The order matters only where tasks wait already, so a fetch with an order and without
//! filters looks here once, and then waits at the desk.
//!
//! A look costs what the first tasks of a queue cost, whatever the filters; few requests look at once, and each rests
//! between two looks for as long as the last one was wide. So a flood of them costs a part of the host, not all of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::delivery::Delivery;
use super::error::{CamundaError, Kind};
use super::fetch_request::{FetchRequest, Topic};
use crate::api::AppState;
use crate::dispatch::SWEEP_SECONDS;
use crate::dispatch::workers::Presence;
use crate::domain::TenantId;
use crate::domain::task::Task;
use crate::engine::port::query::{Filtered, FilteredQuery};
use crate::metrics as names;

/// Polls with filters that may wait on one host.
const WAITING_MAX: usize = 1_000;
/// Polls with filters that look at the database at once.
const LOOKING_MAX: usize = 2;
/// Waiting tasks of one topic that a look goes through, from the first on.
const LOOKED_AT_MAX: u32 = 10_000;
/// The rest after a look, for each task that it went through.
const REST_FOR_EACH: Duration = Duration::from_micros(20);
/// How many more than wanted are found: others may be quicker.
const SPARE: u32 = 8;

static WAITING: AtomicUsize = AtomicUsize::new(0);
static LOOKING: Semaphore = Semaphore::const_new(LOOKING_MAX);

/// The tenant and the topic of new tasks; none means any.
type Bell = Receiver<Option<(TenantId, String)>>;

/// What a look has found.
struct Look {
    locked: Delivery,
    looked_at: u32,
    /// A topic that has more tasks than were looked at, none of which the filters let through.
    too_long: Option<String>,
}

/// Waits for tasks.
pub(super) async fn wait(
    state: &AppState,
    tenant: &TenantId,
    request: &FetchRequest,
) -> Result<Delivery, CamundaError> {
    let presence = attend(state, tenant, request);
    let tasks = look_on(state, tenant, request).await?;
    presence.handed(tasks.tasks(), state.node.clock.now());
    Ok(tasks)
}

/// Looks once; none if nothing waits.
pub(super) async fn look(
    state: &AppState,
    tenant: &TenantId,
    request: &FetchRequest,
) -> Result<Delivery, CamundaError> {
    let _place = Place::take()?;
    let locked = try_once(state, tenant, request).await?.locked;
    if !locked.tasks().is_empty() {
        attend(state, tenant, request).handed(locked.tasks(), state.node.clock.now());
    }
    Ok(locked)
}

/// The worker is there, as it would be at the desk.
fn attend(state: &AppState, tenant: &TenantId, request: &FetchRequest) -> Presence {
    metrics::counter!(names::POLLS).increment(1);
    let topics: Vec<String> = request.topics.keys().cloned().collect();
    state.node.workers.arrive(tenant, &request.worker_id, &topics, state.node.clock.now())
}

/// Looks until there are tasks, or the time is over, or the worker or the host says goodbye.
async fn look_on(
    state: &AppState,
    tenant: &TenantId,
    request: &FetchRequest,
) -> Result<Delivery, CamundaError> {
    let _place = Place::take()?;
    let deadline = Instant::now() + request.wait;
    let mut dismissed = std::pin::pin!(state.node.desk.goodbye_of(tenant, &request.worker_id));
    loop {
        // What is rung for before the look is seen by it.
        let mut bell = state.node.hub.listen();
        let look = try_once(state, tenant, request).await?;
        let left = deadline.saturating_duration_since(Instant::now());
        if !look.locked.tasks().is_empty() {
            return Ok(look.locked);
        }
        if left.is_zero() {
            return look.too_long.map_or(Ok(look.locked), |topic| Err(too_long(&topic)));
        }
        let nap = left.min(Duration::from_secs(SWEEP_SECONDS));
        let woken = async {
            tokio::time::sleep(REST_FOR_EACH * look.looked_at).await;
            rung(&mut bell, tenant, request).await;
        };
        tokio::select! {
            () = woken => {}
            () = tokio::time::sleep(nap) => {}
            () = &mut dismissed => return Ok(look.locked),
            () = state.node.stopping.cancelled() => return Ok(look.locked),
        }
    }
}

/// Waits for a task of one of the topics.
async fn rung(bell: &mut Bell, tenant: &TenantId, request: &FetchRequest) {
    loop {
        match bell.recv().await {
            Ok(Some((whose, topic))) if whose != *tenant || !request.topics.contains_key(&topic) => {}
            Ok(_) | Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

async fn try_once(state: &AppState, tenant: &TenantId, request: &FetchRequest) -> Result<Look, CamundaError> {
    let mut look = Look { locked: Delivery::of(state, Vec::new()), looked_at: 0, too_long: None };
    let mut found: Vec<(Task, i64)> = Vec::new();
    for (name, topic) in request.topics.iter().filter(|(_, topic)| !topic.filter.none) {
        let Filtered { tasks, looked_at } = candidates(state, tenant, request, name, topic).await?;
        if tasks.is_empty() && looked_at >= LOOKED_AT_MAX {
            look.too_long = Some(name.clone());
        }
        look.looked_at += looked_at;
        found.extend(tasks.into_iter().map(|task| (task, topic.lock_ms)));
    }
    found.sort_by_key(|(task, _)| {
        let age = match request.newest_first {
            None => 0,
            Some(false) => task.created_at.millis(),
            Some(true) => -task.created_at.millis(),
        };
        (request.by_priority().then_some(task.priority), age, task.turn_at, task.id)
    });
    let mut rest = found.into_iter();
    while look.locked.tasks().len() < request.max_tasks as usize {
        let wanted = request.max_tasks as usize - look.locked.tasks().len();
        let next: Vec<(Task, i64)> = rest.by_ref().take(wanted).collect();
        if next.is_empty() {
            break;
        }
        let (engine, worker) = (Arc::clone(&state.node.engine), request.worker_id.clone());
        let locked = Delivery::lock(state, async move { engine.lock_found(next, &worker).await });
        look.locked.add(locked.await?);
    }
    for task in look.locked.tasks() {
        metrics::counter!(names::TASKS_CLAIMED, "task_type" => task.task_type.clone()).increment(1);
    }
    if request.use_priority && !request.by_priority() {
        look.locked.sort();
    }
    Ok(look)
}

async fn candidates(
    state: &AppState,
    tenant: &TenantId,
    request: &FetchRequest,
    name: &str,
    topic: &Topic,
) -> Result<Filtered, CamundaError> {
    let filter = &topic.filter;
    let variables = (!filter.variables.is_empty()).then(|| filter.variables.iter().cloned().collect());
    let query = FilteredQuery {
        now: state.node.clock.now(),
        task_type: name.to_owned(),
        business_key: filter.business_key.clone(),
        definition_ids: filter.definition_ids.clone(),
        workflow_keys: filter.workflow_keys.clone(),
        version_tag: filter.version_tag.clone(),
        variables,
        by_priority: request.by_priority(),
        newest_first: request.newest_first,
        look_max: LOOKED_AT_MAX,
        rows_max: request.max_tasks + SPARE,
    };
    // It is never closed.
    let _turn = LOOKING.acquire().await.ok();
    Ok(state.node.store.filtered_tasks(tenant, &query).await?)
}

fn too_long(topic: &str) -> CamundaError {
    CamundaError::invalid(format!(
        "a fetch with filters looks at the first {LOOKED_AT_MAX} waiting tasks of a topic, and none of those of '{topic}' is wanted; \
         let workers without filters take them, or use a topic of its own"
    ))
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
