//! Mistakes as they are found, each with its place.

use std::fmt;

use super::source::Spot;
use super::{CODE, Error};
use crate::domain::definition::Segment;
use crate::engine::Mistake;

/// More mistakes than this are counted, not listed.
const MISTAKES_MAX: usize = 100;

/// The longest piece of a document that a message repeats, in characters.
const QUOTE_CHARS_MAX: usize = 80;

/// The longest sentence about one mistake, in characters: a document must not come back many times over.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// Collects mistakes.
pub(super) struct Report<'a> {
    spots: Option<&'a Spot>,
    mistakes: Vec<Mistake>,
    unlisted: usize,
}

impl<'a> Report<'a> {
    /// No mistakes yet. Without `spots`, lines are not known.
    pub(super) fn new(spots: Option<&'a Spot>) -> Self {
        Self { spots, mistakes: Vec::new(), unlisted: 0 }
    }

    /// A mistake at a field; if the field is not there, the place is that of the nearest thing around it.
    pub(super) fn add(&mut self, field: &Field, message: impl Into<String>) {
        if self.mistakes.len() == MISTAKES_MAX {
            self.unlisted += 1;
            return;
        }
        let spot = self.spots.map(|spots| spots.find(&field.0));
        self.mistakes.push(Mistake {
            line: spot.map(|(line, _)| line),
            column: spot.map(|(_, column)| column),
            field: field.to_string(),
            message: cut(&message.into(), MESSAGE_CHARS_MAX),
        });
    }

    /// Whether all is well so far.
    pub(super) fn is_empty(&self) -> bool {
        self.mistakes.is_empty()
    }

    /// The result, if there was no mistake.
    pub(super) fn finish<T>(mut self, result: T) -> Result<T, Error> {
        if self.mistakes.is_empty() {
            return Ok(result);
        }
        self.mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
        Err(invalid(self.mistakes, self.unlisted))
    }
}

/// The error for a list of mistakes: its sentence tells the first, and how many more there are.
pub(super) fn invalid(mistakes: Vec<Mistake>, unlisted: usize) -> Error {
    let mut message = String::from("the definition is not valid");
    if let Some(first) = mistakes.first() {
        if let Some(line) = first.line {
            message.push_str(&format!(": line {line}"));
        }
        let place = if first.field.is_empty() { String::new() } else { format!(", {}", first.field) };
        message.push_str(&format!("{place}: {}", first.message));
    }
    match mistakes.len() + unlisted {
        0 | 1 => {}
        2 => message.push_str(" (and 1 more mistake)"),
        n => message.push_str(&format!(" (and {} more mistakes)", n - 1)),
    }
    Error::Invalid { code: CODE, message, details: mistakes }
}

/// One mistake that ends the reading of a text.
pub(super) fn fatal(line: usize, column: usize, message: impl Into<String>) -> Error {
    let message = cut(&message.into(), MESSAGE_CHARS_MAX);
    let mistake = Mistake { line: Some(line), column: Some(column), field: String::new(), message };
    invalid(vec![mistake], 0)
}

/// A piece of a document, short enough to repeat in a message.
pub(super) fn shorten(text: &str) -> String {
    cut(text, QUOTE_CHARS_MAX)
}

fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The way to a field from the top of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Field(Vec<Segment>);

impl Field {
    /// The document itself.
    pub(super) fn root() -> Self {
        Self::default()
    }

    /// A member of it.
    pub(super) fn key(&self, name: &str) -> Self {
        self.then(Segment::Key(name.to_owned()))
    }

    /// An item of it.
    pub(super) fn index(&self, at: usize) -> Self {
        self.then(Segment::Index(at))
    }

    /// What a JSON pointer leads to from here.
    pub(super) fn pointer(&self, pointer: &str) -> Self {
        pointer.split('/').skip(1).fold(self.clone(), |field, part| match part.parse() {
            Ok(at) => field.index(at),
            Err(_) => field.key(&part.replace("~1", "/").replace("~0", "~")),
        })
    }

    /// What segments lead to from here.
    pub(super) fn follow(&self, way: &[Segment]) -> Self {
        Self(self.0.iter().chain(way).cloned().collect())
    }

    fn then(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) => {
                    let plain = key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '*'));
                    let short = shorten(key);
                    match (plain && !key.is_empty(), at) {
                        (true, 0) => write!(f, "{short}")?,
                        (true, _) => write!(f, ".{short}")?,
                        (false, _) => write!(f, "[{short:?}]")?,
                    }
                }
            }
        }
        Ok(())
    }
}
