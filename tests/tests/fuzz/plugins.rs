//! The bundled plugins, loaded once for all tests of this process.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use stepwell::domain::Digest;
use stepwell::domain::plugin::{LimitOverrides, PartialPluginLimits};
use stepwell::plugin::{ComponentSource, PluginHost, PluginOptions, bundled};

/// What calls plugins, and the plugins themselves.
pub struct Plugins {
    pub runtime: tokio::runtime::Runtime,
    pub host: Arc<PluginHost>,
}

struct Nothing;

#[async_trait]
impl ComponentSource for Nothing {
    async fn component(&self, _: &Digest) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }
}

/// The plugins that come with the binary. Only fuel, memory and size may stop them: a slow machine must not.
pub fn get() -> &'static Plugins {
    static PLUGINS: OnceLock<Plugins> = OnceLock::new();
    PLUGINS.get_or_init(|| {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let patient = PartialPluginLimits { wall_ms_max: Some(120_000), ..Default::default() };
        let host = PluginHost::new(PluginOptions {
            cache_dir: Some(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/test-data")),
            overrides: LimitOverrides { default: patient, ..Default::default() },
            components: Arc::new(Nothing),
        });
        let host = runtime.block_on(async {
            let host = host.unwrap();
            for (name, bytes) in bundled() {
                let loaded = host.load(bytes.to_vec(), name).await.unwrap();
                assert!(host.serve(&loaded.digest));
            }
            host
        });
        Plugins { runtime, host }
    })
}
