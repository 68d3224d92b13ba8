//! Which components are loaded, and which of them serves a name now.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::loaded::Loaded;
use crate::domain::Digest;
use crate::domain::plugin::{PluginInfo, PluginKind};

/// Components by digest and by name. Read without a lock; a writer replaces the whole.
#[derive(Default)]
pub(super) struct Registry {
    tables: ArcSwap<Tables>,
}

#[derive(Clone, Default)]
struct Tables {
    by_digest: HashMap<Digest, Arc<Loaded>>,
    steps: BTreeMap<String, Arc<Loaded>>,
    mappers: BTreeMap<String, Arc<Loaded>>,
}

impl Tables {
    fn names(&self, kind: PluginKind) -> &BTreeMap<String, Arc<Loaded>> {
        match kind {
            PluginKind::Step => &self.steps,
            PluginKind::Mapper => &self.mappers,
        }
    }

    fn names_mut(&mut self, kind: PluginKind) -> &mut BTreeMap<String, Arc<Loaded>> {
        match kind {
            PluginKind::Step => &mut self.steps,
            PluginKind::Mapper => &mut self.mappers,
        }
    }

    fn info(&self, loaded: &Loaded) -> PluginInfo {
        let serving = self.names(loaded.kind()).iter().filter(|(_, serving)| serving.digest == loaded.digest);
        PluginInfo {
            digest: loaded.digest.clone(),
            kind: loaded.kind(),
            origin: loaded.origin.clone(),
            size_bytes: u64::try_from(loaded.bytes.len()).unwrap_or(u64::MAX),
            descriptor: (*loaded.descriptor).clone(),
            compensates: loaded.compensates,
            migrates: loaded.migrates,
            serving: serving.map(|(name, _)| name.clone()).collect(),
        }
    }
}

impl Registry {
    /// A component by its digest.
    pub(super) fn get(&self, digest: &Digest) -> Option<Arc<Loaded>> {
        self.tables.load().by_digest.get(digest).cloned()
    }

    /// The component that serves a name now.
    pub(super) fn serving(&self, kind: PluginKind, name: &str) -> Option<Arc<Loaded>> {
        self.tables.load().names(kind).get(name).cloned()
    }

    /// Every name that is served, in order.
    pub(super) fn names(&self, kind: PluginKind) -> Vec<String> {
        self.tables.load().names(kind).keys().cloned().collect()
    }

    /// Keeps a component; one with the same digest stays as it is and is returned.
    pub(super) fn insert(&self, loaded: Arc<Loaded>) -> Arc<Loaded> {
        self.tables.rcu(|tables| {
            let mut tables = Tables::clone(tables);
            tables.by_digest.entry(loaded.digest.clone()).or_insert_with(|| loaded.clone());
            tables
        });
        self.get(&loaded.digest).unwrap_or(loaded)
    }

    /// Lets a component serve some of its names.
    pub(super) fn serve(&self, loaded: &Arc<Loaded>, names: &[String]) {
        self.tables.rcu(|tables| {
            let mut tables = Tables::clone(tables);
            for name in names {
                tables.names_mut(loaded.kind()).insert(name.clone(), loaded.clone());
            }
            tables
        });
    }

    /// Everything that is loaded, by main name and digest.
    pub(super) fn list(&self) -> Vec<PluginInfo> {
        let tables = self.tables.load();
        let mut list: Vec<PluginInfo> = tables.by_digest.values().map(|loaded| tables.info(loaded)).collect();
        list.sort_by(|a, b| (&a.descriptor.types, &a.digest).cmp(&(&b.descriptor.types, &b.digest)));
        list
    }

    /// One component, by a name that it serves, or by its digest or the beginning of it (at least 8 digits).
    pub(super) fn find(&self, name_or_digest: &str) -> Option<PluginInfo> {
        let tables = self.tables.load();
        let by_name = tables.steps.get(name_or_digest).or_else(|| tables.mappers.get(name_or_digest));
        let mut by_digest = tables
            .by_digest
            .values()
            .filter(|loaded| name_or_digest.len() >= 8 && loaded.digest.0.starts_with(name_or_digest));
        match by_name {
            Some(loaded) => Some(tables.info(loaded)),
            None => by_digest.next().filter(|_| by_digest.next().is_none()).map(|loaded| tables.info(loaded)),
        }
    }
}
