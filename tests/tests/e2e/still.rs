//! A host whose clock is the test's: loops do not run, databases and components are real.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use serde_json::Value;
use stepwell::dispatch::due::{Due, Progress};
use stepwell::domain::instance::Instance;
use stepwell::domain::limits::Limits;
use stepwell::domain::page::PageRequest;
use stepwell::domain::plugin::{LimitOverrides, PartialPluginLimits};
use stepwell::domain::{Clock, Digest, InstanceId, TenantId, Timestamp};
use stepwell::engine::StartRequest;
use stepwell::engine::port::Store;
use stepwell::engine::port::store::{InstanceFilter, TimerFilter};
use stepwell::node::{Node, NodeParts};
use stepwell::plugin::{ComponentSource, PluginHost, PluginOptions};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::until;

/// 2026-03-28T12:00:00Z: in Prague clocks go forward in the night to come.
pub const NOON_MS: i64 = 1_774_699_200_000;
pub const HOUR_MS: i64 = 3_600_000;

/// A clock that goes when it is told to.
pub struct Hands(AtomicI64);

impl Hands {
    pub fn turn(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

struct Nothing;

#[async_trait]
impl ComponentSource for Nothing {
    async fn component(&self, _: &Digest) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }
}

/// A host whose loops do not run: the test is its alarm.
pub struct Still {
    pub node: Arc<Node>,
    due: Due,
    pub clock: Arc<Hands>,
    claimed: AtomicUsize,
}

impl Still {
    pub async fn new(store: Arc<dyn Store>, clock: Arc<Hands>) -> Result<Self> {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/test-data");
        let patient = PartialPluginLimits { wall_ms_max: Some(120_000), ..Default::default() };
        let plugins = PluginHost::new(PluginOptions {
            cache_dir: Some(data.join("compiled")),
            overrides: LimitOverrides { default: patient, ..Default::default() },
            components: Arc::new(Nothing),
        })?;
        plugins.load_bundled().await.map_err(|error| anyhow::anyhow!("{error}"))?;
        let node = Node::new(NodeParts {
            store: Arc::clone(&store),
            plugins: plugins.clone(),
            catalog: plugins,
            clock: clock.clone(),
            limits: Limits::default(),
            retention: Default::default(),
            keyring: Default::default(),
            allow_hosts: Default::default(),
            kafka: None,
            node_id: "still".into(),
            open: true,
        });
        let due = Due::new(store, Arc::clone(&node.engine), clock.clone(), Arc::clone(&node.hub) as _);
        Ok(Self { node, due, clock, claimed: AtomicUsize::new(0) })
    }

    pub async fn on(db: &TestDb) -> Result<Self> {
        Self::new(db.open().await, Arc::new(Hands(AtomicI64::new(NOON_MS)))).await
    }

    pub async fn deploy(&self, key: &str, config: &str) -> Result<()> {
        self.deploy_source(key, &format!("steps:\n  - {{ id: wait, type: TIMER, config: {config} }}\n")).await
    }

    pub async fn deploy_source(&self, key: &str, source: &str) -> Result<()> {
        self.node.engine.deploy(&TenantId::default(), Some(key), source).await?;
        Ok(())
    }

    pub async fn start(&self, key: &str, context: Value) -> Result<InstanceId> {
        let request = StartRequest {
            tenant: TenantId::default(),
            workflow_key: key.into(),
            version: None,
            context,
            business_key: None,
            idempotency_key: None,
            traceparent: None,
        };
        Ok(self.node.engine.start(request).await?.id)
    }

    /// A round, and all that it took: a round does not wait for what is slow, and a test does.
    pub async fn round(&self) -> Result<Progress> {
        let progress = self.due.run_once(self.clock.now()).await?;
        let claimed = self.claimed.fetch_add(progress.timers, Ordering::Relaxed) + progress.timers;
        until("what was taken has fired", async || Ok(self.fired().await?.len() >= claimed)).await?;
        Ok(progress)
    }

    pub async fn status(&self, id: InstanceId) -> Result<&'static str> {
        let instance = self.node.store.instance(&TenantId::default(), id).await?.context("it is there")?;
        Ok(instance.status.label())
    }

    pub async fn output(&self, id: InstanceId) -> Result<Value> {
        let steps = self.node.store.steps(&TenantId::default(), id, None).await?;
        Ok(steps.into_iter().find_map(|step| step.output).unwrap_or(Value::Null))
    }

    pub async fn fired(&self) -> Result<Vec<stepwell::domain::timer::Timer>> {
        let filter = TimerFilter { instance_id: None, triggered: true };
        let page = PageRequest { after: None, limit: 10_000 };
        Ok(self.node.store.timer_list(&TenantId::default(), &filter, &page).await?)
    }

    /// Every instance, oldest first.
    pub async fn instances(&self) -> Result<Vec<Instance>> {
        let page = PageRequest { after: None, limit: 10_000 };
        let mut found =
            self.node.store.instances(&TenantId::default(), &InstanceFilter::default(), &page).await?;
        found.reverse();
        Ok(found)
    }
}
