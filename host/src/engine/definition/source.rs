//! The text of a definition: YAML or JSON, read into a value that knows where each field stands.

use std::collections::HashMap;

use serde_json::Value;

use super::report::fatal;
use super::{json, yaml};
use crate::domain::definition::Segment;
use crate::domain::json as flaw;
use crate::domain::limits::Limits;
use crate::engine::Error;

/// A definition's text, read.
#[derive(Clone, Debug)]
pub struct Document {
    value: Value,
    spots: Spot,
}

impl Document {
    /// The document as JSON: what is stored.
    pub fn value(&self) -> &Value {
        &self.value
    }

    pub(super) fn spots(&self) -> &Spot {
        &self.spots
    }
}

/// Reads YAML 1.2 or JSON.
pub fn read(source: &str, limits: &Limits) -> Result<Document, Error> {
    let bytes_max = limits.definition_bytes_max;
    if source.len() > bytes_max {
        return Err(Error::too_large(
            "definition_too_large",
            format!("the definition has {} bytes; at most {bytes_max} are taken", source.len()),
        ));
    }
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    if let Some(at) = source.find('\0') {
        let (line, column) = place(source, at);
        return Err(fatal(line, column, "the character U+0000 cannot be stored: remove it"));
    }
    let read = if source.trim_start().starts_with(['{', '[']) {
        // What is not JSON may be YAML in flow style; if it is neither, JSON's complaint is the better one.
        json::read(source).or_else(|of_json| yaml::read(source, bytes_max).map_err(|_| of_json))
    } else {
        yaml::read(source, bytes_max)
    };
    let (value, spots) = read?;
    flaw::check(&value).map_err(|flaw| fatal(1, 1, format!("the definition {flaw}")))?;
    if !value.is_object() {
        let (line, column) = (spots.line, spots.column);
        return Err(fatal(line, column, "a definition is an object with a list `steps`"));
    }
    Ok(Document { value, spots })
}

/// Where a value stands, and where what is in it does.
#[derive(Clone, Debug, Default)]
pub(super) struct Spot {
    /// From 1.
    pub(super) line: usize,
    /// From 1, in characters.
    pub(super) column: usize,
    /// Of an array.
    pub(super) items: Vec<Spot>,
    /// Of an object: the place of the name, with what is in the value.
    pub(super) members: HashMap<String, Spot>,
}

impl Spot {
    /// A place with nothing in it.
    pub(super) fn at(line: usize, column: usize) -> Self {
        Self { line, column, ..Self::default() }
    }

    /// Line and column of a field, or of the nearest thing around it that is there.
    pub(super) fn find(&self, way: &[Segment]) -> (usize, usize) {
        let mut spot = self;
        for segment in way {
            let next = match segment {
                Segment::Key(key) => spot.members.get(key),
                Segment::Index(at) => spot.items.get(*at),
            };
            match next {
                Some(next) => spot = next,
                None => break,
            }
        }
        (spot.line, spot.column)
    }
}

/// Line and column, from 1, of a byte of a text.
pub(super) fn place(source: &str, at: usize) -> (usize, usize) {
    let before = source.get(..at).unwrap_or(source);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
