//! A folder that goes away with the command that made it.

use std::path::{Path, PathBuf};

use super::Error;

/// The folder.
pub(super) struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// A new, empty folder; `purpose` is part of its name.
    pub(super) fn new(purpose: &str) -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("stepwell-{purpose}-{}", uuid::Uuid::now_v7()));
        std::fs::create_dir(&path)
            .map_err(|error| Error::unavailable(format!("{} cannot be made: {error}", path.display())))?;
        Ok(Self { path })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
