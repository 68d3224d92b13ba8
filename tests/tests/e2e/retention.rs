//! Retention: what has ended is removed by age, what runs is left alone.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use stepwell::domain::limits::Limits;
use stepwell::domain::page::PageRequest;
use stepwell::domain::plugin::LimitOverrides;
use stepwell::domain::{Clock as _, Digest, InstanceId, SystemClock, TenantId};
use stepwell::engine::port::announce::Silent;
use stepwell::engine::{Engine, Parts, StartRequest};
use stepwell::plugin::{ComponentSource, PluginHost, PluginOptions, bundled};
use stepwell_tests::db::TestDb;

struct Nowhere;

#[async_trait]
impl ComponentSource for Nowhere {
    async fn component(&self, _: &Digest) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }
}

/// Ended instances go with all they had; journals may go earlier; a running instance keeps everything.
async fn what_has_ended_is_removed_by_age(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let plugins = PluginHost::new(PluginOptions {
        cache_dir: None,
        overrides: LimitOverrides::default(),
        components: Arc::new(Nowhere),
    })?;
    let (_, bytes) = bundled().iter().find(|(name, _)| *name == "external-task").context("not bundled")?;
    plugins.serve(&plugins.load(bytes.to_vec(), "test").await?.digest);
    let engine = Engine::new(Parts {
        store: store.clone(),
        plugins,
        clock: Arc::new(SystemClock),
        announcer: Arc::new(Silent),
        limits: Limits::default(),
        keyring: Arc::default(),
        node_id: "none".into(),
    });
    let tenant = TenantId::default();
    engine.deploy(&tenant, Some("w"), "steps: [{id: a, type: EXTERNAL_TASK, config: {taskType: t}}]").await?;
    let (ended, running) = (start(&engine, &tenant).await?, start(&engine, &tenant).await?);
    engine.cancel(&tenant, ended, "for the test").await?;
    let (earlier, later) =
        (SystemClock.now().plus_millis(-3_600_000), SystemClock.now().plus_millis(3_600_000));
    let page = PageRequest { after: None, limit: 100 };

    assert_eq!(engine.prune(Some(earlier), Some(earlier)).await?, 0, "nothing is old enough");
    assert!(!store.journal(&tenant, ended, &page).await?.is_empty());
    assert_eq!(engine.prune(None, Some(later)).await?, 1, "the journal of what has ended");
    assert!(store.journal(&tenant, ended, &page).await?.is_empty());
    assert!(store.instance(&tenant, ended).await?.is_some());
    assert_eq!(engine.prune(None, Some(later)).await?, 0, "once");

    assert_eq!(engine.prune(Some(later), None).await?, 1);
    assert!(store.instance(&tenant, ended).await?.is_none());
    assert!(store.steps(&tenant, ended, None).await?.is_empty());
    assert_eq!(engine.prune(Some(later), Some(later)).await?, 0);
    assert!(store.instance(&tenant, running).await?.is_some());
    assert!(!store.journal(&tenant, running, &page).await?.is_empty());

    let (over, open) = (uuid::Uuid::now_v7(), uuid::Uuid::now_v7());
    let now = SystemClock.now();
    for (id, finished_at) in [(over, format!("'{now}'")), (open, "null".into())] {
        db.execute(&format!(
            "insert into workflow_batches (id, tenant, kind, retries, task_ids, done, failed, created_at, finished_at)
             values ('{id}', 'default', 'set-external-task-retries', 3, '[]', 0, 0, '{now}', {finished_at})"
        ))
        .await?;
    }
    engine.forget_batches(earlier).await?;
    assert_eq!(store.batches(&tenant, None).await?.len(), 2);
    engine.forget_batches(later).await?;
    let left: Vec<uuid::Uuid> =
        store.batches(&tenant, None).await?.into_iter().map(|batch| batch.id).collect();
    assert_eq!(left, [open], "what is under way stays");
    Ok(())
}

async fn start(engine: &Arc<Engine>, tenant: &TenantId) -> Result<InstanceId> {
    let request = StartRequest {
        tenant: tenant.clone(),
        workflow_key: "w".into(),
        version: None,
        context: serde_json::json!({}),
        business_key: None,
        idempotency_key: None,
        traceparent: None,
    };
    Ok(engine.start(request).await?.id)
}

stepwell_tests::on_both_databases!(what_has_ended_is_removed_by_age);
