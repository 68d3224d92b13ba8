//! JSON text: `serde_json` reads it, and a walk over the text it accepted finds where each field stands.

use std::iter::Peekable;
use std::str::CharIndices;

use serde_json::Value;

use super::report::fatal;
use super::source::Spot;
use super::yaml::too_deep;
use crate::engine::Error;

/// Reads JSON. Names that stand twice in one object are refused: which one counts would be a guess.
pub(super) fn read(source: &str) -> Result<(Value, Spot), Error> {
    let value = serde_json::from_str(source).map_err(|error| {
        let (line, column) = (error.line().max(1), error.column().max(1));
        let message = error.to_string();
        if message.contains("recursion limit") {
            return too_deep(line, column);
        }
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        fatal(line, column, format!("this is not JSON: {message}"))
    })?;
    let mut walk = Walk { source, chars: source.char_indices().peekable(), line: 1, column: 1 };
    let spots = walk.value()?;
    Ok((value, spots))
}

/// A walk over text that is known to be JSON, and so to be no deeper than `serde_json` allows.
struct Walk<'a> {
    source: &'a str,
    chars: Peekable<CharIndices<'a>>,
    line: usize,
    column: usize,
}

impl Walk<'_> {
    fn value(&mut self) -> Result<Spot, Error> {
        let (next, mut spot) = self.peek();
        match next {
            Some('{') => {
                self.next();
                self.members(&mut spot)?;
            }
            Some('[') => {
                self.next();
                while !matches!(self.peek().0, Some(']') | None) {
                    let item = self.value()?;
                    spot.items.push(item);
                    self.skip(',');
                }
                self.skip(']');
            }
            Some('"') => {
                self.string();
            }
            _ => {
                while self
                    .chars
                    .peek()
                    .is_some_and(|(_, c)| !matches!(c, ',' | ']' | '}') && !c.is_whitespace())
                {
                    self.next();
                }
            }
        }
        Ok(spot)
    }

    fn members(&mut self, spot: &mut Spot) -> Result<(), Error> {
        while !matches!(self.peek().0, Some('}') | None) {
            let (_, at) = self.peek();
            let name = self.string();
            self.skip(':');
            let value = self.value()?;
            let member = Spot { line: at.line, column: at.column, ..value };
            if spot.members.insert(name.clone(), member).is_some() {
                return Err(fatal(at.line, at.column, format!("`{name}` stands twice in the same object")));
            }
            self.skip(',');
        }
        self.skip('}');
        Ok(())
    }

    /// The next character. Columns are counted as they pass: one line may be the whole text.
    fn next(&mut self) -> Option<(usize, char)> {
        let next = self.chars.next();
        match next {
            Some((_, '\n')) => (self.line, self.column) = (self.line + 1, 1),
            _ => self.column += 1,
        }
        next
    }

    /// Skips white space, and tells what comes and where it is.
    fn peek(&mut self) -> (Option<char>, Spot) {
        while self.chars.peek().is_some_and(|(_, c)| c.is_whitespace()) {
            self.next();
        }
        (self.chars.peek().map(|&(_, c)| c), Spot::at(self.line, self.column))
    }

    fn skip(&mut self, wanted: char) {
        if self.peek().0 == Some(wanted) {
            self.next();
        }
    }

    fn string(&mut self) -> String {
        let start = self.next().map_or(self.source.len(), |(at, _)| at);
        let mut end = self.source.len();
        while let Some((at, c)) = self.next() {
            match c {
                '\\' => {
                    self.next();
                }
                '"' => {
                    end = at + 1;
                    break;
                }
                _ => {}
            }
        }
        serde_json::from_str(&self.source[start..end]).unwrap_or_default()
    }
}
