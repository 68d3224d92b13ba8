//! JSON and text that a command is given: inline, from `@FILE`, or from stdin as `-`.

use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use super::Error;

/// JSON from an argument: the text itself, `@FILE`, or `-` for stdin.
pub(super) fn json(name: &str, argument: &str) -> Result<Value, Error> {
    let text = match argument.strip_prefix('@') {
        Some(path) => file(path)?,
        None if argument == "-" => stdin()?,
        None => argument.to_owned(),
    };
    serde_json::from_str(&text).map_err(|error| {
        Error::usage(format!("{name} is not JSON: {error}; in a shell, put it in single quotes"))
    })
}

/// The text of a file, or of stdin for `-`.
pub(super) fn file(path: &str) -> Result<String, Error> {
    if path == "-" {
        return stdin();
    }
    std::fs::read_to_string(path).map_err(|error| Error::usage(format!("{path} cannot be read: {error}")))
}

/// A secret from a file, or from stdin. The line break that an editor puts at the end is left out.
pub(super) fn secret(path: Option<&Path>) -> Result<String, Error> {
    let mut text = match path {
        Some(path) => file(&path.to_string_lossy())?,
        None => stdin()?,
    };
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    if text.is_empty() {
        return Err(Error::usage("there is no value: give it on stdin, or name a file with --value-file"));
    }
    Ok(text)
}

fn stdin() -> Result<String, Error> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Error::usage(format!("stdin cannot be read: {error}")))?;
    Ok(text)
}
