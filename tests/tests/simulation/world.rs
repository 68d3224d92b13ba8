//! The world of one seed: two hosts on one store, a clock that can step, and crashes.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use stepwell::dispatch::retention::RetentionOptions;
use stepwell::domain::limits::Limits;
use stepwell::domain::{Clock, Timestamp};
use stepwell::node::{Node, NodeParts};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use super::memory::{Memory, Tables};
use super::plugins::Native;

/// Hosts on the store at once.
const HOSTS: usize = 2;

/// Virtual time, which may step.
pub struct SteppingClock {
    began: Instant,
    offset_ms: AtomicI64,
}

impl Clock for SteppingClock {
    fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.began.elapsed().as_millis()).unwrap();
        Timestamp::from_millis(1_700_000_000_000 + elapsed + self.offset_ms.load(Ordering::Relaxed))
    }
}

struct Host {
    node: Arc<Node>,
    gate: Arc<Gate>,
    plugins: Arc<Native>,
    shutdown: CancellationToken,
}

/// Everything of one run.
pub struct World {
    pub tables: Arc<Mutex<Tables>>,
    pub clock: Arc<SteppingClock>,
    hosts: Mutex<Vec<Host>>,
    seeds: AtomicU64,
    calm: AtomicBool,
}

impl World {
    pub fn new(seed: u64) -> Arc<Self> {
        let world = Arc::new(Self {
            tables: Arc::default(),
            clock: Arc::new(SteppingClock { began: Instant::now(), offset_ms: AtomicI64::new(0) }),
            hosts: Mutex::new(Vec::new()),
            seeds: AtomicU64::new(seed.wrapping_mul(1_000_003)),
            calm: AtomicBool::new(false),
        });
        for _ in 0..HOSTS {
            let host = world.boot();
            world.hosts.lock().unwrap().push(host);
        }
        world
    }

    /// A host that a client happens to talk to.
    pub fn any_node(&self, random: &mut StdRng) -> Arc<Node> {
        let hosts = self.hosts.lock().unwrap();
        hosts[random.random_range(0..hosts.len())].node.clone()
    }

    /// Whether faults are over.
    pub fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed)
    }

    /// Ends all faults: from here on everything must come to its end.
    pub fn calm_down(&self) {
        self.calm.store(true, Ordering::Relaxed);
        for host in self.hosts.lock().unwrap().iter() {
            host.gate.calm();
            host.plugins.calm();
        }
    }

    /// Kills hosts, steps the clock, and replaces hosts that have died by themselves.
    pub async fn trouble(self: Arc<Self>, seed: u64) {
        let mut random = StdRng::seed_from_u64(seed);
        loop {
            tokio::time::sleep(Duration::from_millis(random.random_range(100..3_000))).await;
            let calm = self.is_calm();
            if !calm && random.random_bool(0.15) {
                self.clock.offset_ms.fetch_add(random.random_range(-30_000..30_000), Ordering::Relaxed);
            }
            let victim = (!calm && random.random_bool(0.2)).then(|| random.random_range(0..HOSTS));
            for at in 0..HOSTS {
                let dead = {
                    let hosts = self.hosts.lock().unwrap();
                    if victim == Some(at) {
                        hosts[at].gate.die();
                    }
                    hosts[at].gate.is_dead()
                };
                if dead {
                    let fresh = self.boot();
                    let old = std::mem::replace(&mut self.hosts.lock().unwrap()[at], fresh);
                    old.shutdown.cancel();
                }
            }
        }
    }

    fn boot(&self) -> Host {
        let seed = self.seeds.fetch_add(1, Ordering::Relaxed);
        let gate = Arc::new(Gate::new(seed));
        let plugins = Arc::new(Native::new(seed ^ 0x5eed));
        if self.is_calm() {
            gate.calm();
            plugins.calm();
        }
        let node = Node::new(NodeParts {
            store: Arc::new(Memory { tables: self.tables.clone(), gate: gate.clone() }),
            plugins: plugins.clone(),
            catalog: plugins.clone(),
            clock: self.clock.clone(),
            limits: Limits::default(),
            retention: RetentionOptions::default(),
            keyring: Arc::default(),
            allow_hosts: Arc::default(),
            kafka: None,
            node_id: format!("host-{seed}"),
            open: true,
        });
        let shutdown = CancellationToken::new();
        node.run_loops(shutdown.clone());
        Host { node, gate, plugins, shutdown }
    }
}
