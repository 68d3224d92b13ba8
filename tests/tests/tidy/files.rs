//! Rules that each Rust file keeps by itself.

use crate::code;
use crate::tree::File;

/// The longest file, in lines.
const LINES_MAX: usize = 400;

/// A file whose first line does not say what it is for.
pub(crate) fn doc(file: &File) -> Option<String> {
    let first = file.text.lines().next().unwrap_or_default();
    let said = first.strip_prefix("//!").is_some_and(|words| !words.trim().is_empty());
    (!said).then(|| format!("{} begins with `{first}`", file.path))
}

/// A file that is too long.
pub(crate) fn length(file: &File) -> Option<String> {
    let lines = file.text.lines().count();
    (lines > LINES_MAX).then(|| format!("{} has {lines} lines, {LINES_MAX} are the most", file.path))
}

/// Macros that must not stay.
pub(crate) fn unfinished(file: &File) -> Vec<String> {
    let code = code::strip(&file.text);
    code::names(&code)
        .into_iter()
        .filter(|(_, name, rest)| {
            ["todo", "unimplemented", "dbg"].contains(name) && rest.trim_start().starts_with('!')
        })
        .map(|(line, name, _)| format!("{}:{line} has {name}!", file.path))
        .collect()
}

/// Lints that are switched off without a reason.
pub(crate) fn allowed(file: &File) -> Vec<String> {
    let code = code::strip(&file.text);
    let lines = code.lines().enumerate();
    lines
        .filter(|(_, line)| {
            let line: String = line.split_whitespace().collect();
            line.contains("#[allow(") || line.contains("#![allow(")
        })
        .map(|(at, _)| format!("{}:{} allows a lint", file.path, at + 1))
        .collect()
}

#[test]
fn bad_files_are_found() {
    let file = |text: &str| File::new("host/src/x.rs", text);
    assert!(doc(&file("//! What it is.\n")).is_none());
    for bad in ["", "//!\n", "use a;\n//! late", "// plain"] {
        assert!(doc(&file(bad)).is_some(), "{bad:?}");
    }
    assert!(length(&file(&"x\n".repeat(400))).is_none());
    assert!(length(&file(&"x\n".repeat(401))).is_some());
    assert_eq!(unfinished(&file("fn f() { todo!() }\n// todo!()\nlet todo = 1; dbg !(x);")).len(), 2);
    assert_eq!(allowed(&file("#[allow(dead_code)]\n#![ allow(x) ]\n#[expect(y)]\n\"#[allow(\"")).len(), 2);
}
