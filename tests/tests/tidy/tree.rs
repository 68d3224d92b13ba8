//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// A file and where it is.
pub(crate) struct File {
    /// From the top of the repository, with `/`.
    pub(crate) path: String,
    /// What is in it.
    pub(crate) text: String,
}

impl File {
    /// For the tests of the rules.
    #[cfg(test)]
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }
}

/// All files with an extension in some folders, in order. What is built or hidden is left out.
pub(crate) fn files(folders: &[&str], extension: &str) -> Vec<File> {
    let mut found = Vec::new();
    for folder in folders {
        walk(&root().join(folder), extension, &mut found);
    }
    // A rule about nothing would hold for ever.
    assert!(!found.is_empty(), "there are no .{extension} files in {folders:?}");
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// The names of the files in one folder that end so, without the end.
pub(crate) fn names(folder: &str, end: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            entry.file_name().to_str().and_then(|name| name.strip_suffix(end)).map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

/// One file.
pub(crate) fn read(path: &str) -> File {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    File { path: path.to_owned(), text }
}

/// Whether a path is there, from the top or from `host/src`, as people write it in documents.
pub(crate) fn exists(path: &str) -> bool {
    root().join(path).exists() || root().join("host/src").join(path).exists()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn walk(folder: &Path, extension: &str, found: &mut Vec<File>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && name != "node_modules" && !name.starts_with('.') {
                walk(&path, extension, found);
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            let text =
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let path = path.strip_prefix(root()).map_or_else(|_| path.clone(), Path::to_path_buf);
            found.push(File { path: path.to_string_lossy().replace('\\', "/"), text });
        }
    }
}
