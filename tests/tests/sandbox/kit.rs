//! What these tests share: a host with nothing loaded, and calls.

use std::collections::HashMap;
use std::io::Write;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use serde_json::{Value, json};
use stepwell::domain::plugin::{
    CallContext, LimitOverrides, MapCall, PartialPluginLimits, StepCall, StepVerb,
};
use stepwell::domain::{Digest, TenantId, Timestamp};
use stepwell::engine::port::{Answer, Plugins as _};
use stepwell::plugin::{ComponentSource, PluginHost, PluginOptions};

/// A moment in 2026.
pub const NOW_MS: i64 = 1_780_000_000_000;

/// Stored components, as a database would have them.
#[derive(Default)]
pub struct Shelf(Mutex<HashMap<Digest, Vec<u8>>>);

impl Shelf {
    pub fn put(&self, digest: Digest, bytes: Vec<u8>) {
        self.0.lock().unwrap().insert(digest, bytes);
    }
}

#[async_trait]
impl ComponentSource for Shelf {
    async fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.lock().unwrap().get(digest).cloned())
    }
}

/// Time enough on any machine: the clock on the wall must decide nothing but in the test about it.
pub fn patient() -> PartialPluginLimits {
    PartialPluginLimits { wall_ms_max: Some(120_000), ..Default::default() }
}

pub fn host() -> Arc<PluginHost> {
    host_with(LimitOverrides { default: patient(), ..Default::default() }, Arc::default())
}

pub fn host_with(overrides: LimitOverrides, components: Arc<Shelf>) -> Arc<PluginHost> {
    PluginHost::new(PluginOptions { cache_dir: Some(cache_dir()), overrides, components }).unwrap()
}

/// Each component is compiled once for all tests of a process.
fn cache_dir() -> std::path::PathBuf {
    static DIR: OnceLock<tempfile::TempDir> = OnceLock::new();
    DIR.get_or_init(|| tempfile::tempdir().unwrap()).path().to_owned()
}

pub fn context(config: &Value) -> CallContext {
    CallContext {
        tenant: TenantId::default(),
        workflow: "workflow".into(),
        instance: "instance".into(),
        step: "step".into(),
        attempt: 2,
        seq: 3,
        now: Timestamp::from_millis(NOW_MS),
        seed: 42,
        config: config.to_string(),
        extra: json!({}),
    }
}

pub fn start(config: &Value, input: Value) -> StepCall {
    StepCall { context: context(config), verb: StepVerb::Start { input } }
}

pub fn map(config: &Value, input: Value) -> MapCall {
    MapCall { context: context(config), input }
}

/// A call of `HOSTILE` in a mode.
pub fn mode(mode: &str, size: usize) -> StepCall {
    start(&json!({ "mode": mode, "size": size }), json!({ "from": "before" }))
}

/// The same call for another tenant.
pub fn of_tenant(tenant: &str, mut call: StepCall) -> StepCall {
    call.context.tenant = tenant.parse().unwrap();
    call
}

/// Loads a component and lets it serve its names.
pub async fn served(host: &PluginHost, bytes: Vec<u8>) -> Digest {
    let loaded = host.load(bytes, "test").await.unwrap();
    assert!(host.serve(&loaded.digest));
    loaded.digest.clone()
}

/// The output of a step that is done.
pub async fn output(host: &PluginHost, digest: &Digest, call: &StepCall) -> Value {
    let Answer { result, .. } = host.call_step(digest, call).await.unwrap();
    match result.unwrap().outcome {
        stepwell::domain::transition::Outcome::Completed { output } => output,
        other => panic!("not completed: {other:?}"),
    }
}

/// The code of a fault, and whether it is transient.
pub async fn fault(host: &PluginHost, digest: &Digest, call: &StepCall) -> (&'static str, bool) {
    let fault = host.call_step(digest, call).await.expect_err("a fault");
    assert!(!fault.message.is_empty());
    (fault.code, fault.transient)
}

/// Polls a future once, without anyone to be woken.
pub fn poll_once<F: Future>(future: &mut Pin<&mut F>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// The log of this thread, while a guard lives.
#[derive(Clone, Default)]
pub struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    pub fn begin() -> (Self, tracing::subscriber::DefaultGuard) {
        let captured = Self::default();
        let writer = captured.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        (captured, tracing::subscriber::set_default(subscriber))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
