//! The folder of plugins: components are loaded as their files appear or change.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::{LoadError, Loaded, PluginHost};

/// What tells a changed file from the same one.
type Stamp = (u64, Option<SystemTime>);

/// Files as they were at the last scan.
#[derive(Default)]
pub(super) struct Folder {
    seen: Mutex<HashMap<PathBuf, Stamp>>,
}

/// What a scan found.
#[derive(Debug, Default)]
pub struct Scan {
    /// Components of new or changed files; they serve their names now.
    pub loaded: Vec<Arc<Loaded>>,
    /// New or changed files that are no good, told once for each change.
    pub failed: Vec<(PathBuf, LoadError)>,
}

impl Folder {
    /// Looks at every `*.wasm` in the folder, in order of their names.
    pub(super) async fn scan(&self, host: &PluginHost, dir: &Path) -> Result<Scan, super::Error> {
        let files = files(dir).await.map_err(|error| {
            super::Error(format!("the folder of plugins {} cannot be listed: {error}", dir.display()))
        })?;
        self.forget_all_but(&files);
        let mut scan = Scan::default();
        for (path, stamp) in files {
            if !self.changed(&path, stamp) {
                continue;
            }
            match load(host, &path).await {
                Ok(loaded) => {
                    host.serve(&loaded.digest);
                    tracing::info!(plugin = loaded.name(), digest = loaded.digest.short(), file = %path.display(), "plugin loaded");
                    scan.loaded.push(loaded);
                }
                Err(error) => {
                    tracing::warn!(code = error.code, file = %path.display(), "plugin refused: {error}");
                    scan.failed.push((path, error));
                }
            }
        }
        Ok(scan)
    }

    fn changed(&self, path: &Path, stamp: Stamp) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert(path.to_owned(), stamp) != Some(stamp)
    }

    /// A file that went away is loaded again when it comes back. Its component stays: steps may be pinned to it.
    fn forget_all_but(&self, files: &[(PathBuf, Stamp)]) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|path, _| files.iter().any(|(file, _)| file == path));
    }
}

async fn load(host: &PluginHost, path: &Path) -> Result<Arc<Loaded>, LoadError> {
    let bytes = tokio::fs::read(path).await.map_err(|error| {
        LoadError::new("component_unreadable", format!("the file cannot be read: {error}"))
    })?;
    let origin = path.file_name().unwrap_or_default().to_string_lossy();
    host.load(bytes, &origin).await
}

async fn files(dir: &Path) -> std::io::Result<Vec<(PathBuf, Stamp)>> {
    let mut entries = tokio::fs::read_dir(dir).await?;
    let mut files = Vec::new();
    while let Some(entry) = entries.next_entry().await? {
        let path = entry.path();
        let wasm = path.extension().is_some_and(|extension| extension == "wasm");
        // Through links too; a file that went away in between is not there.
        let Some(metadata) =
            tokio::fs::metadata(&path).await.ok().filter(|metadata| wasm && metadata.is_file())
        else {
            continue;
        };
        files.push((path, (metadata.len(), metadata.modified().ok())));
    }
    files.sort();
    Ok(files)
}
