//! The plugins of one host: loading, naming, listing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Semaphore;

use super::engine::Runtime;
use super::folder::{Folder, Scan};
use super::load::{Loader, Passed};
use super::loaded::Loaded;
use super::permits::Permits;
use super::registry::Registry;
use super::{Error, LoadError, fault, limits};
use crate::domain::plugin::{
    Fault, LimitOverrides, PluginInfo, PluginKind, PluginLimits, StoredPlugin, Usage,
};
use crate::domain::{Digest, TenantId};

include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// Where components come from that this host has not loaded: the database.
#[async_trait]
pub trait ComponentSource: Send + Sync + 'static {
    /// The bytes of a component.
    ///
    /// # Errors
    /// Why nobody can say whether it is there.
    async fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String>;
}

/// The code of a component that may be stored, and cannot be read now.
const UNREADABLE: &str = "component_unreadable";

/// What a host needs to run plugins.
pub struct PluginOptions {
    /// Where compiled code is kept between two starts; none keeps it in memory only.
    pub cache_dir: Option<PathBuf>,
    /// Limits that the operator set.
    pub overrides: LimitOverrides,
    /// Where components come from that are not loaded.
    pub components: Arc<dyn ComponentSource>,
}

/// What `stepwell plugin check` tells of a component that passed.
#[derive(Debug)]
pub struct Report {
    /// What it is and says of itself.
    pub info: PluginInfo,
    /// Each golden call, and what it used.
    pub examples: Vec<(String, Usage)>,
}

/// The plugins of one host.
pub struct PluginHost {
    pub(super) runtime: Runtime,
    pub(super) overrides: LimitOverrides,
    pub(super) permits: Permits,
    pub(super) registry: Registry,
    loader: Loader,
    fetchers: Semaphore,
    components: Arc<dyn ComponentSource>,
    folder: Folder,
}

impl PluginHost {
    /// An engine with nothing loaded.
    pub fn new(options: PluginOptions) -> Result<Arc<Self>, Error> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        // Calls take microseconds: a place more than the cores can use costs address space and nothing else.
        let calls_max = (cores * 16).clamp(32, 256);
        Ok(Arc::new(Self {
            runtime: Runtime::new(options.cache_dir, u32::try_from(calls_max).unwrap_or(u32::MAX))?,
            overrides: options.overrides,
            permits: Permits::new(calls_max),
            registry: Registry::default(),
            loader: Loader::new(),
            fetchers: Semaphore::new(1),
            components: options.components,
            folder: Folder::default(),
        }))
    }

    /// Loads the components that the binary brings along, and lets them serve their names.
    pub async fn load_bundled(&self) -> Result<Vec<Arc<Loaded>>, LoadError> {
        let mut loaded = Vec::with_capacity(BUNDLED.len());
        for (_, bytes) in BUNDLED {
            let plugin = self.load(bytes.to_vec(), "bundled").await?;
            self.serve(&plugin.digest);
            loaded.push(plugin);
        }
        Ok(loaded)
    }

    /// Checks a component and makes it callable by its digest. It serves no name until [`PluginHost::serve`].
    pub async fn load(&self, bytes: Vec<u8>, origin: &str) -> Result<Arc<Loaded>, LoadError> {
        let digest = Digest::of(&bytes);
        if let Some(loaded) = self.registry.get(&digest) {
            return Ok(loaded);
        }
        let limits = self.limits(None, &[], &digest);
        let Passed { loaded, .. } = self.loader.load(&self.runtime, bytes.into(), origin, &limits).await?;
        Ok(self.registry.insert(Arc::new(loaded)))
    }

    /// Checks a component and keeps nothing of it.
    pub async fn check(&self, bytes: Vec<u8>, origin: &str) -> Result<Report, LoadError> {
        let limits = self.limits(None, &[], &Digest::of(&bytes));
        let Passed { loaded, examples } =
            self.loader.load(&self.runtime, bytes.into(), origin, &limits).await?;
        let info = PluginInfo {
            digest: loaded.digest.clone(),
            kind: loaded.kind(),
            origin: loaded.origin.clone(),
            size_bytes: u64::try_from(loaded.bytes.len()).unwrap_or(u64::MAX),
            descriptor: (*loaded.descriptor).clone(),
            compensates: loaded.compensates,
            migrates: loaded.migrates,
            serving: Vec::new(),
        };
        Ok(Report { info, examples })
    }

    /// Lets a loaded component serve all its names; those who served them before keep what is pinned to them.
    pub fn serve(&self, digest: &Digest) -> bool {
        let loaded = self.registry.get(digest);
        if let Some(loaded) = &loaded {
            self.registry.serve(loaded, &loaded.descriptor.types);
        }
        loaded.is_some()
    }

    /// Serves what the database has: for each name the component that came last, loaded if need be.
    /// Components that serve no name are loaded when a pinned step calls them. Returns those that are no good here.
    pub async fn sync(&self, mut stored: Vec<StoredPlugin>) -> Vec<(Digest, LoadError)> {
        stored.sort_by(|a, b| (a.created_at, &a.digest).cmp(&(b.created_at, &b.digest)));
        let mut serving: BTreeMap<(bool, &String), &Digest> = BTreeMap::new();
        for plugin in &stored {
            let mapper = plugin.kind == PluginKind::Mapper;
            serving.extend(plugin.types.iter().map(|name| ((mapper, name), &plugin.digest)));
        }
        let mut failed: Vec<(Digest, LoadError)> = Vec::new();
        for ((mapper, name), digest) in serving {
            let kind = if mapper { PluginKind::Mapper } else { PluginKind::Step };
            let current = self.registry.serving(kind, name).is_some_and(|loaded| loaded.digest == *digest);
            if current || failed.iter().any(|(bad, _)| bad == digest) {
                continue;
            }
            match self.fetch(digest).await {
                Ok(loaded) => self.registry.serve(&loaded, std::slice::from_ref(name)),
                Err(error) => failed.push((digest.clone(), error)),
            }
        }
        failed
    }

    /// Loads what is new in a folder, and lets it serve its names.
    pub async fn scan_folder(&self, dir: &Path) -> Result<Scan, Error> {
        self.folder.scan(self, dir).await
    }

    /// Everything that is loaded.
    pub fn list(&self) -> Vec<PluginInfo> {
        self.registry.list()
    }

    /// One component, by a name that it serves, or by its digest or the beginning of it.
    pub fn info(&self, name_or_digest: &str) -> Option<PluginInfo> {
        self.registry.find(name_or_digest)
    }

    /// What a component says of itself, whole.
    pub fn document(&self, digest: &Digest) -> Option<serde_json::Value> {
        self.registry.get(digest).map(|loaded| loaded.document.clone())
    }

    /// A component itself.
    pub fn bytes(&self, digest: &Digest) -> Option<Arc<[u8]>> {
        self.registry.get(digest).map(|loaded| loaded.bytes.clone())
    }

    /// The limits of a call, of a tenant or of none.
    pub fn limits(&self, tenant: Option<&TenantId>, types: &[String], digest: &Digest) -> PluginLimits {
        limits::resolve(&self.overrides, tenant.map(TenantId::as_str), types, digest)
    }

    /// A component for a call: loaded, or fetched and loaded now.
    pub(super) async fn ensure(&self, digest: &Digest) -> Result<Arc<Loaded>, Fault> {
        match self.registry.get(digest) {
            Some(loaded) => Ok(loaded),
            None => self.fetch(digest).await.map_err(|error| {
                let message = format!("the component {} cannot be called here: {error}", digest.short());
                // A database that is away says nothing about the component.
                Fault { transient: error.code == UNREADABLE, ..fault::missing(message) }
            }),
        }
    }

    /// One at a time: many steps may wait for the same component.
    async fn fetch(&self, digest: &Digest) -> Result<Arc<Loaded>, LoadError> {
        let _permit = self.fetchers.acquire().await;
        if let Some(loaded) = self.registry.get(digest) {
            return Ok(loaded);
        }
        let missing =
            |message: &str| LoadError::new("component_missing", format!("{} {message}", digest.short()));
        let stored = self.components.component(digest).await;
        let stored = stored
            .map_err(|why| LoadError::new(UNREADABLE, format!("{} cannot be read: {why}", digest.short())))?;
        let bytes =
            stored.ok_or_else(|| missing("is neither loaded nor stored: upload the component again"))?;
        if Digest::of(&bytes) != *digest {
            return Err(missing(
                "is stored with other bytes than its digest says: upload the component again",
            ));
        }
        self.load(bytes, "database").await
    }
}

/// The components that the binary brings along: the name of each one's folder, and its bytes.
pub fn bundled() -> &'static [(&'static str, &'static [u8])] {
    BUNDLED
}
