//! What documents say about files.

use crate::tree::File;

/// Files that a document names and that are not there.
pub(crate) fn paths(file: &File, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (at, line) in file.text.lines().enumerate() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Between backticks are the odd parts.
        for word in line.split('`').skip(1).step_by(2).filter(|word| is_path(word)) {
            for path in expand(word) {
                if !exists(&path) {
                    found.push(format!("{}:{} names `{path}`", file.path, at + 1));
                }
            }
        }
    }
    found
}

/// A word that looks like a file or a folder of this repository, and not like a route or a command.
fn is_path(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/{},".contains(c);
    let ends = word.ends_with('/') || word.rsplit('/').next().is_some_and(|name| name.contains('.'));
    word.contains('/') && !word.starts_with(['/', '.']) && word.chars().all(plain) && ends
}

/// `a.{x,y}` is `a.x` and `a.y`.
fn expand(word: &str) -> Vec<String> {
    match word.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        Some((before, (choices, after))) => {
            choices.split(',').flat_map(|choice| expand(&format!("{before}{choice}{after}"))).collect()
        }
        None => vec![word.to_owned()],
    }
}

#[test]
fn a_name_that_leads_nowhere_is_found() {
    let text = "See `a/b.rs`, `a/gone.rs`, `a/x.{pg,lite}.sql` and `gone/`.\n```\n`a/c.rs`\n```\n\
                Not `/api/v1`, `postgres://x/y.z`, `and/or`, `make test`, `file.rs`.";
    let there = ["a/b.rs", "a/x.pg.sql"];
    let found = paths(&File::new("X.md", text), |path| there.contains(&path));
    assert_eq!(found, ["X.md:1 names `a/gone.rs`", "X.md:1 names `a/x.lite.sql`", "X.md:1 names `gone/`"]);
}
