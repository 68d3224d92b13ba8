//! Where a host's plugins come from: the binary, the database, and a folder that is watched while it runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::Error;
use crate::domain::plugin::PluginInfo;
use crate::domain::{Clock as _, Digest, SystemClock};
use crate::engine::port::write::PluginRow;
use crate::engine::port::{Hint, PluginCatalog, Store, StoreError, Verdict, Write, WriteSet};
use crate::node::Node;
use crate::plugin::{ComponentSource, Loaded, PluginHost, PluginOptions};
use crate::settings::Settings;

/// How often the folder is looked at.
const FOLDER_EVERY: Duration = Duration::from_secs(2);
/// How often the database is asked for components of other hosts, should a hint be lost.
const DATABASE_EVERY: Duration = Duration::from_secs(30);

/// The plugins of a host, and what keeps them in step with the folder and the database.
pub(super) struct Plugins {
    host: Arc<PluginHost>,
    store: Arc<dyn Store>,
    folder: Option<PathBuf>,
    /// What the folder serves: on this host it wins over the database.
    from_folder: Vec<Digest>,
    /// Loaded, and not in the database yet.
    unsaved: Vec<Arc<Loaded>>,
}

/// Loads what the binary brings along, what the database has, and what is in the folder; stores what is new.
pub(super) async fn load(settings: &Settings, store: Arc<dyn Store>) -> Result<Plugins, Error> {
    let host = PluginHost::new(PluginOptions {
        cache_dir: Some(settings.data.join("compiled")),
        overrides: settings.plugin_limits.clone(),
        components: Arc::new(Stored(Arc::clone(&store))),
    })
    .map_err(|error| Error::Config(format!("the plugins' sandbox cannot be set up: {error}")))?;
    let bundled = host
        .load_bundled()
        .await
        .map_err(|error| Error::Config(format!("a bundled plugin is broken: {error}")))?;
    let mut plugins =
        Plugins { host, store, folder: settings.plugins.clone(), from_folder: Vec::new(), unsaved: bundled };
    plugins.save().await?;
    plugins.fetch().await?;
    plugins.scan().await.map_err(Error::Config)?;
    plugins.save().await?;
    Ok(plugins)
}

impl Plugins {
    /// The room itself.
    pub(super) fn host(&self) -> Arc<PluginHost> {
        Arc::clone(&self.host)
    }

    /// Follows the folder and the database until the host stops.
    pub(super) async fn keep_in_step(mut self, node: Arc<Node>, stop: CancellationToken) {
        let mut folder = tokio::time::interval(FOLDER_EVERY);
        let mut database = tokio::time::interval(DATABASE_EVERY);
        for ticks in [&mut folder, &mut database] {
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        }
        loop {
            let ask_database = tokio::select! {
                () = stop.cancelled() => return,
                _ = folder.tick() => false,
                _ = database.tick() => true,
                () = node.hub.plugins_changed() => true,
            };
            if ask_database && let Err(error) = self.fetch().await {
                tracing::debug!(%error, "plugins of other hosts are asked for again later");
            }
            if let Err(error) = self.scan().await {
                tracing::warn!("{error}");
            }
            if let Err(error) = self.save().await {
                tracing::debug!(%error, "new plugins are stored again later");
            }
        }
    }

    /// Loads what is new in the folder.
    async fn scan(&mut self) -> Result<(), String> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let scan = self.host.scan_folder(folder).await.map_err(|error| error.to_string())?;
        for loaded in scan.loaded {
            self.from_folder.retain(|digest| *digest != loaded.digest);
            self.from_folder.push(loaded.digest.clone());
            self.unsaved.push(loaded);
        }
        Ok(())
    }

    /// Serves what other hosts, or this one in an earlier life, have stored.
    async fn fetch(&self) -> Result<(), StoreError> {
        let stored = self.store.plugins().await?;
        for (digest, error) in self.host.sync(stored).await {
            tracing::warn!(
                digest = digest.short(),
                code = error.code,
                "a stored plugin cannot be served: {error}"
            );
        }
        for digest in &self.from_folder {
            self.host.serve(digest);
        }
        Ok(())
    }

    /// Stores what is not stored yet, so that any host can decide any step.
    async fn save(&mut self) -> Result<(), StoreError> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        let stored = self.store.plugins().await?;
        self.unsaved.retain(|loaded| !stored.iter().any(|row| row.digest == loaded.digest));
        // One at a time: a component can be large.
        while let Some(loaded) = self.unsaved.last() {
            let verdicts = self.store.commit(vec![insert(loaded)]).await?;
            if let Some(Verdict::Refused(reason)) = verdicts.first() {
                tracing::error!(plugin = loaded.name(), reason, "the database refused a plugin");
            }
            self.unsaved.pop();
        }
        Ok(())
    }
}

fn insert(loaded: &Loaded) -> WriteSet {
    let row = PluginRow {
        digest: loaded.digest.clone(),
        kind: loaded.kind(),
        types: loaded.descriptor.types.clone(),
        descriptor: loaded.document.clone(),
        component: base64::engine::general_purpose::STANDARD.encode(&loaded.bytes),
        created_at: SystemClock.now(),
    };
    WriteSet { guards: Vec::new(), writes: vec![Write::InsertPlugin(row)], hints: vec![Hint::Plugins] }
}

/// Components that are in the database.
struct Stored(Arc<dyn Store>);

#[async_trait]
impl ComponentSource for Stored {
    async fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        self.0.component(digest).await.map_err(|error| error.to_string())
    }
}

impl PluginCatalog for PluginHost {
    fn list(&self) -> Vec<PluginInfo> {
        Self::list(self)
    }

    fn info(&self, name_or_digest: &str) -> Option<PluginInfo> {
        Self::info(self, name_or_digest)
    }
}
