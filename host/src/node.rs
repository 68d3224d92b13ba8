//! One running host: what it is made of, its loops, and its orderly end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::dispatch::alarm::{self, Alarm};
use crate::dispatch::courier::Courier;
use crate::dispatch::desk::Desk;
use crate::dispatch::due::Due;
use crate::dispatch::hub::Hub;
use crate::dispatch::kafka::Kafka;
use crate::dispatch::retention::{self, RetentionOptions};
use crate::dispatch::workers::Workers;
use crate::dispatch::{batches, events, gauges, listen};
use crate::domain::Clock;
use crate::domain::address::AllowHosts;
use crate::domain::limits::Limits;
use crate::engine::keyring::Keyring;
use crate::engine::port::{Announcer, PluginCatalog, Plugins, Store};
use crate::engine::{Engine, Parts};

/// The pause before a loop that broke begins again.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// What a host is made from.
pub struct NodeParts {
    /// The database.
    pub store: Arc<dyn Store>,
    /// The plugins, as the engine calls them.
    pub plugins: Arc<dyn Plugins>,
    /// The plugins, as lists show them.
    pub catalog: Arc<dyn PluginCatalog>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Every limit.
    pub limits: Limits,
    /// What is removed when.
    pub retention: RetentionOptions,
    /// The keys that seal secrets.
    pub keyring: Arc<Keyring>,
    /// Where requests may go to besides the internet.
    pub allow_hosts: Arc<AllowHosts>,
    /// Where events come from and messages go to, if there is one.
    pub kafka: Option<Arc<Kafka>>,
    /// What this host is called.
    pub node_id: String,
    /// No token is needed: only on loopback, and only if there are none.
    pub open: bool,
}

/// A running host.
pub struct Node {
    /// Decides.
    pub engine: Arc<Engine>,
    /// The database.
    pub store: Arc<dyn Store>,
    /// The plugins, as lists show them.
    pub catalog: Arc<dyn PluginCatalog>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Takes hints.
    pub hub: Arc<Hub>,
    /// Parked polls.
    pub desk: Arc<Desk>,
    /// What this host hears of workers.
    pub workers: Arc<Workers>,
    /// Every limit.
    pub limits: Limits,
    /// What this host is called.
    pub node_id: String,
    /// No token is needed.
    pub open: bool,
    /// Cancelled when the host begins to stop: streams end, polls are answered.
    pub stopping: CancellationToken,
    /// Sends what leaves for the outside.
    pub courier: Option<Arc<Courier>>,
    /// Where events come from and messages go to, if there is one.
    pub kafka: Option<Arc<Kafka>>,
    alarm: Arc<Alarm>,
    retention: RetentionOptions,
    draining: AtomicBool,
}

impl Node {
    /// Puts a host together; nothing runs yet.
    pub fn new(parts: NodeParts) -> Arc<Self> {
        let alarm = Arc::new(Alarm::default());
        let hub = Hub::new(Arc::clone(&alarm), parts.limits.parked_polls_max);
        let announcer: Arc<dyn Announcer> = Arc::clone(&hub) as _;
        let engine = Engine::new(Parts {
            store: Arc::clone(&parts.store),
            plugins: parts.plugins,
            clock: Arc::clone(&parts.clock),
            announcer,
            limits: parts.limits.clone(),
            keyring: parts.keyring,
            node_id: parts.node_id.as_str().into(),
        });
        let desk = Desk::new(
            Arc::clone(&parts.store),
            Arc::clone(&engine),
            Arc::clone(&parts.clock),
            Arc::clone(&alarm),
            Arc::clone(hub.workers()),
            parts.limits.clone(),
        );
        hub.attach(&desk);
        let courier = Courier::new(Arc::clone(&engine), Arc::clone(&parts.clock), parts.allow_hosts);
        let courier = courier.map_err(|error| tracing::error!(error, "nothing leaves for the outside")).ok();
        Arc::new(Self {
            engine,
            store: parts.store,
            catalog: parts.catalog,
            clock: parts.clock,
            workers: Arc::clone(hub.workers()),
            hub,
            desk,
            limits: parts.limits,
            node_id: parts.node_id,
            open: parts.open,
            stopping: CancellationToken::new(),
            courier: courier.map(|courier| Arc::new(courier.with_kafka(parts.kafka.clone()))),
            kafka: parts.kafka,
            alarm,
            retention: parts.retention,
            draining: AtomicBool::new(false),
        })
    }

    /// Runs every loop of the host until the shutdown.
    pub fn run_loops(self: &Arc<Self>, shutdown: CancellationToken) -> JoinHandle<()> {
        let (node, stop) = (Arc::clone(self), shutdown);
        let announcer: Arc<dyn Announcer> = Arc::clone(&self.hub) as _;
        let due =
            Due::new(Arc::clone(&self.store), Arc::clone(&self.engine), Arc::clone(&self.clock), announcer);
        let due = Arc::new(due.with_courier(self.courier.clone()));
        tokio::spawn(async move {
            tokio::join!(
                keep_running("alarm", || {
                    let (node, due, stop) = (Arc::clone(&node), Arc::clone(&due), stop.clone());
                    async move { alarm::run(&node.alarm, &due, node.clock.as_ref(), stop).await }
                }),
                keep_running("listen", || {
                    let (node, stop) = (Arc::clone(&node), stop.clone());
                    async move { listen::run(node.store.as_ref(), &node.engine, node.hub.as_ref(), stop).await }
                }),
                keep_running("sweep", || {
                    let (node, stop) = (Arc::clone(&node), stop.clone());
                    async move { node.desk.run_sweeps(stop).await }
                }),
                keep_running("retention", || {
                    let (node, stop) = (Arc::clone(&node), stop.clone());
                    async move { retention::run(&node.engine, node.clock.as_ref(), node.retention, stop).await }
                }),
                keep_running("batches", || {
                    let (node, stop) = (Arc::clone(&node), stop.clone());
                    async move { batches::run(&node.engine, stop).await }
                }),
                keep_running("events", || {
                    let (node, stop) = (Arc::clone(&node), stop.clone());
                    async move { events::run(&node.engine, node.clock.as_ref(), node.retention, stop).await }
                }),
                keep_running("gauges", || {
                    let (node, stop) = (Arc::clone(&node), stop.clone());
                    async move {
                        let (store, clock) = (node.store.as_ref(), node.clock.as_ref());
                        gauges::run(store, &node.desk, &node.workers, clock, stop).await;
                    }
                }),
                keep_running("kafka", || {
                    let node = Arc::clone(&node);
                    async move {
                        if let Some(kafka) = &node.kafka {
                            kafka.run(&node.engine, &node.hub, &node.clock, node.stopping.clone()).await;
                        }
                    }
                }),
                keep_running("workers", || {
                    let (node, stop) = (Arc::clone(&node), stop.clone());
                    async move { node.workers.run(&node.engine, node.clock.as_ref(), stop).await }
                }),
            );
        })
    }

    /// Whether the host is stopping and takes no new work.
    pub fn draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Answers parked polls, ends streams, and waits until everything that was accepted is committed.
    pub async fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.stopping.cancel();
        self.desk.drain().await;
        self.engine.drain().await;
    }
}

/// Runs a loop in a task of its own; should it panic, it is said, and the loop begins again.
async fn keep_running<F>(name: &'static str, make: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    while let Err(panicked) = tokio::spawn(make()).await {
        metrics::counter!(crate::metrics::LOOP_ERRORS, "loop" => name).increment(1);
        tracing::error!(name, %panicked, "a loop of this host broke, and begins again");
        tokio::time::sleep(RESTART_PAUSE).await;
    }
}
