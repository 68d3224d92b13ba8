//! The desk: polls wait here, holding neither a thread nor a connection, until there are tasks for them.
//!
//! Interest is registered first and the database asked then, so no task slips through between the two. Claims are
//! made for a whole group of polls at once, in tasks of their own: a client that goes away takes nothing with it.

mod claim;
mod patterns;
mod promise;
mod repeats;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::patterns::Patterns;
use self::repeats::{Repeats, RequestName};
use self::state::{Full, GroupKey, Poller, PollerId, State};
use super::SWEEP_SECONDS;
use super::alarm::Alarm;
use super::workers::Workers;
use crate::domain::limits::Limits;
use crate::domain::task::Task;
use crate::domain::{Clock, TenantId};
use crate::engine::port::Store;
use crate::engine::{Engine, Error};

/// Groups that one sweep asks for.
const SWEEP_GROUPS_MAX: usize = 64;

/// How long a poll whose time is over waits for a claim or a commit that was to serve it.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// Goodbyes that a parked poll may have missed before it no longer knows whose they were.
const GOODBYES_MAX: usize = 256;

/// A wish for tasks.
#[derive(Clone, Debug)]
pub struct PollRequest {
    /// Whose tasks.
    pub tenant: TenantId,
    /// Any of these types; a `*` in one stands for any text.
    pub task_types: Vec<String>,
    /// Who asks.
    pub worker_id: Option<String>,
    /// At most so many.
    pub max_tasks: u32,
    /// How long to wait if there are none.
    pub wait: Duration,
    /// How long to hold them, if the worker knows better than the tasks.
    pub lock_ms: Option<i64>,
    /// A repeat with the same name gets the same tasks.
    pub request_id: Option<String>,
}

/// Parked polls of this host.
pub struct Desk {
    store: Arc<dyn Store>,
    engine: Arc<Engine>,
    clock: Arc<dyn Clock>,
    alarm: Arc<Alarm>,
    limits: Limits,
    state: Mutex<State<Waiter>>,
    repeats: Mutex<Repeats>,
    workers: Arc<Workers>,
    patterns: Arc<Mutex<Patterns>>,
    goodbyes: broadcast::Sender<WorkerName>,
    claims: TaskTracker,
}

/// Tenant and worker.
type WorkerName = (TenantId, String);

type Waiter = oneshot::Sender<Result<Vec<Task>, Error>>;

impl Desk {
    /// A desk with nobody waiting.
    pub fn new(
        store: Arc<dyn Store>,
        engine: Arc<Engine>,
        clock: Arc<dyn Clock>,
        alarm: Arc<Alarm>,
        workers: Arc<Workers>,
        limits: Limits,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            engine,
            clock,
            alarm,
            limits,
            state: Mutex::default(),
            repeats: Mutex::default(),
            workers,
            patterns: Arc::default(),
            goodbyes: broadcast::Sender::new(GOODBYES_MAX),
            claims: TaskTracker::new(),
        })
    }

    /// Waits for tasks; none if the time is over or the host is stopping.
    pub async fn poll(self: &Arc<Self>, request: PollRequest) -> Result<Vec<Task>, Error> {
        let now = self.clock.now();
        metrics::counter!(crate::metrics::POLLS).increment(1);
        let presence = request
            .worker_id
            .as_deref()
            .map(|worker_id| self.workers.arrive(&request.tenant, worker_id, &request.task_types, now));
        let name: Option<RequestName> =
            request.request_id.clone().map(|id| (request.tenant.clone(), request.worker_id.clone(), id));
        if let Some(name) = &name {
            let earlier = lock(&self.repeats).earlier(name, now);
            if !earlier.is_empty() {
                return Ok(earlier);
            }
        }
        let tasks = self.wait(request).await?;
        if let Some(presence) = presence {
            presence.handed(&tasks, self.clock.now());
        }
        if let (Some(name), false) = (name, tasks.is_empty()) {
            lock(&self.repeats).keep(name, &tasks, self.clock.now());
        }
        Ok(tasks)
    }

    async fn wait(self: &Arc<Self>, request: PollRequest) -> Result<Vec<Task>, Error> {
        let mut task_types = request.task_types;
        task_types.sort_unstable();
        task_types.dedup();
        let key: GroupKey = (request.tenant, task_types.into());
        let _interest = self.interest(&key);
        let mut goodbyes = self.goodbyes.subscribe();
        let name = request.worker_id.clone().map(|worker_id| (key.0.clone(), worker_id));
        let (waiter, answer) = oneshot::channel();
        let tasks_max = request.max_tasks.clamp(1, self.limits.poll_tasks_max) as usize;
        let mut poller = Poller::new(request.worker_id, tasks_max, request.lock_ms, waiter);
        let wait = request.wait.min(Duration::from_secs(self.limits.poll_wait_seconds_max));
        poller.impatient = wait.is_zero();
        let (host_max, tenant_max) = (self.limits.parked_polls_max, self.limits.parked_polls_per_tenant_max);
        let parked = lock(&self.state).park(&key, poller, host_max, tenant_max);
        let id = match parked {
            Ok(id) => id,
            Err(Full::Closed) => return Ok(Vec::new()),
            Err(full) => return Err(too_many(&full)),
        };
        let mut place = Place { desk: Arc::clone(self), key, id, answer };
        self.serve(&place.key);
        if !wait.is_zero() {
            tokio::select! {
                biased;
                answer = &mut place.answer => return answer.unwrap_or_else(|_| Ok(Vec::new())),
                () = tokio::time::sleep(wait) => {}
                // Its place is freed; what is being claimed for it goes to somebody else.
                () = dismissed(&mut goodbyes, name.as_ref()) => return Ok(Vec::new()),
            }
            if lock(&self.state).expire(&place.key, place.id) {
                return Ok(Vec::new());
            }
        }
        // Its answer is under way; what comes later than this is given back when its place is freed.
        match tokio::time::timeout(ANSWER_MAX, &mut place.answer).await {
            Ok(answer) => answer.unwrap_or_else(|_| Ok(Vec::new())),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Tasks of a type can be claimed.
    pub fn available(self: &Arc<Self>, tenant: &TenantId, task_type: &str, count: u32) {
        let mut keys = lock(&self.state).announce(tenant, task_type, count);
        for pattern in self.patterns_of(tenant, task_type) {
            keys.extend(lock(&self.state).announce(tenant, &pattern, count));
        }
        keys.iter().for_each(|key| self.serve(key));
    }

    /// A worker says goodbye: its parked polls are answered, and the tasks that it holds are offered again.
    pub async fn goodbye(self: &Arc<Self>, tenant: &TenantId, worker_id: &str) -> Result<usize, Error> {
        // Nobody listens if no poll is parked.
        let _ = self.goodbyes.send((tenant.clone(), worker_id.to_owned()));
        let given_back = self.engine.give_back_all(tenant, worker_id).await?;
        self.workers.left(tenant, worker_id, self.clock.now());
        Ok(given_back)
    }

    /// Ends when a worker says goodbye on this host, from this call on: for polls that do not wait here.
    pub fn goodbye_of(&self, tenant: &TenantId, worker_id: &str) -> impl Future<Output = ()> + use<> {
        let mut goodbyes = self.goodbyes.subscribe();
        let name = (tenant.clone(), worker_id.to_owned());
        async move { dismissed(&mut goodbyes, Some(&name)).await }
    }

    /// Everyone who waits is asked for again.
    pub fn ask_all(self: &Arc<Self>) {
        let keys = lock(&self.state).ask(usize::MAX);
        keys.iter().for_each(|key| self.serve(key));
    }

    /// Asks for those who wait, every few seconds: this rescues a poll whose hint was lost.
    pub async fn run_sweeps(self: &Arc<Self>, shutdown: CancellationToken) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(SWEEP_SECONDS)) => {}
                () = shutdown.cancelled() => return,
            }
            let keys = lock(&self.state).ask(SWEEP_GROUPS_MAX);
            keys.iter().for_each(|key| self.serve(key));
        }
    }

    /// How many polls wait.
    pub fn parked(&self) -> usize {
        lock(&self.state).parked()
    }

    /// Whether a poll for a type waits here, by name or pattern.
    pub fn waits_for(&self, tenant: &TenantId, task_type: &str) -> bool {
        lock(&self.state).interested(tenant, task_type) || !self.patterns_of(tenant, task_type).is_empty()
    }

    /// Answers every parked poll, and waits for the claims that are under way.
    pub async fn drain(&self) {
        let waiters = lock(&self.state).close();
        for waiter in waiters {
            let _ = waiter.send(Ok(Vec::new()));
        }
        self.claims.close();
        self.claims.wait().await;
    }
}

/// A poll's place at the desk, freed when the poll is over or its client is gone.
struct Place {
    desk: Arc<Desk>,
    key: GroupKey,
    id: PollerId,
    answer: oneshot::Receiver<Result<Vec<Task>, Error>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.desk.state).leave(&self.key, self.id);
        // An answer that came and was never taken.
        self.answer.close();
        if let Ok(Ok(tasks)) = self.answer.try_recv() {
            self.desk.give_back(tasks);
        }
    }
}

/// Waits until a worker has said goodbye; for ever if it has no name.
async fn dismissed(goodbyes: &mut broadcast::Receiver<WorkerName>, name: Option<&WorkerName>) {
    let Some(name) = name else { return std::future::pending().await };
    loop {
        match goodbyes.recv().await {
            Ok(left) if left == *name => return,
            // One that was missed is made up for by the end of the poll's time.
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return std::future::pending().await,
        }
    }
}

fn too_many(full: &Full) -> Error {
    let whose = if *full == Full::Tenant { "of this tenant wait" } else { "wait" };
    Error::Busy {
        code: "too_many_parked_polls",
        message: format!(
            "too many polls {whose} on this host; try again later, or ask for more tasks with each"
        ),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
