//! YAML text: events of the parser, folded into a value with places.
//!
//! Aliases are expanded, within a budget, so that a few lines cannot become gigabytes.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, Tag};
use serde_json::{Map, Value};

use super::report::{fatal, shorten};
use super::source::Spot;
use crate::domain::json::DEPTH_MAX;
use crate::engine::Error;

/// Reads one YAML 1.2 document (core schema: `600s` and `yes` are strings).
pub(super) fn read(source: &str, bytes_max: usize) -> Result<(Value, Spot), Error> {
    let mut fold = Fold { open: Vec::new(), anchors: HashMap::new(), done: None, budget: bytes_max };
    for event in Parser::new_from_str(source) {
        let (event, span) = event.map_err(|error| {
            let (line, column) = place(*error.marker());
            if error.info().contains("recursion limit") {
                return too_deep(line, column);
            }
            fatal(line, column, format!("this is not YAML: {}", error.info()))
        })?;
        fold.take(event, span)?;
    }
    let node = fold.done.ok_or_else(|| fatal(1, 1, "the definition is empty"))?;
    Ok((node.value, node.spot))
}

/// A value that is complete.
#[derive(Clone)]
struct Node {
    value: Value,
    spot: Spot,
    /// What it costs to repeat it.
    bytes: usize,
    /// How deep it is.
    height: usize,
}

/// A value that is being filled.
struct Open {
    node: Node,
    anchor: usize,
    /// In an object: the name that waits for its value.
    name: Option<(String, Spot)>,
}

struct Fold {
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    done: Option<Node>,
    /// Bytes that may still be copied for anchors and aliases.
    budget: usize,
}

impl Fold {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Error> {
        let (line, column) = place(span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if self.expects_name() {
                    return self.name(text.into_owned(), line, column);
                }
                let value =
                    scalar(&text, style, tag.as_deref()).map_err(|message| fatal(line, column, message))?;
                let node = Node { value, spot: Spot::at(line, column), bytes: text.len() + 1, height: 1 };
                self.close(node, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.begin(Value::Array(Vec::new()), anchor, tag.as_deref(), span)
            }
            Event::MappingStart(anchor, tag) => {
                self.begin(Value::Object(Map::new()), anchor, tag.as_deref(), span)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => self.close(open.node, open.anchor),
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                if self.expects_name() {
                    return Err(fatal(line, column, "an alias cannot be the name of a field"));
                }
                let Some(node) = self.anchors.get(&anchor) else {
                    return Err(fatal(
                        line,
                        column,
                        "this alias repeats a name, or something that is not complete",
                    ));
                };
                self.budget = spend(self.budget, node.bytes, line, column)?;
                let node = Node { spot: Spot { line, column, ..node.spot.clone() }, ..node.clone() };
                self.close(node, 0)
            }
            Event::DocumentStart(_) if self.done.is_some() => {
                Err(fatal(line, column, "there is a second document: deploy them one by one"))
            }
            _ => Ok(()),
        }
    }

    fn expects_name(&self) -> bool {
        self.open.last().is_some_and(|open| open.node.value.is_object() && open.name.is_none())
    }

    fn name(&mut self, name: String, line: usize, column: usize) -> Result<(), Error> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        if open.node.spot.members.contains_key(&name) {
            let message = format!("`{}` stands twice in the same object", shorten(&name));
            return Err(fatal(line, column, message));
        }
        open.node.bytes += name.len();
        open.name = Some((name, Spot::at(line, column)));
        Ok(())
    }

    fn begin(&mut self, value: Value, anchor: usize, tag: Option<&Tag>, span: Span) -> Result<(), Error> {
        let (line, column) = place(span.start);
        if self.expects_name() {
            return Err(fatal(line, column, "the name of a field must be text"));
        }
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            return Err(fatal(line, column, format!("the tag `{tag}` is not known: remove it")));
        }
        if self.open.len() >= DEPTH_MAX {
            return Err(too_deep(line, column));
        }
        let node = Node { value, spot: Spot::at(line, column), bytes: 1, height: 1 };
        self.open.push(Open { node, anchor, name: None });
        Ok(())
    }

    /// A value is complete: it goes into the one around it.
    fn close(&mut self, node: Node, anchor: usize) -> Result<(), Error> {
        let (line, column) = (node.spot.line, node.spot.column);
        if self.open.len() + node.height > DEPTH_MAX + 1 {
            return Err(too_deep(line, column));
        }
        if anchor != 0 {
            self.budget = spend(self.budget, node.bytes, line, column)?;
            self.anchors.insert(anchor, node.clone());
        }
        let Some(parent) = self.open.last_mut() else {
            self.done = Some(node);
            return Ok(());
        };
        parent.node.bytes += node.bytes;
        parent.node.height = parent.node.height.max(node.height + 1);
        match (&mut parent.node.value, parent.name.take()) {
            (Value::Object(members), Some((name, at))) => {
                let spot = Spot { line: at.line, column: at.column, ..node.spot };
                parent.node.spot.members.insert(name.clone(), spot);
                members.insert(name, node.value);
            }
            (Value::Array(items), _) => {
                parent.node.spot.items.push(node.spot);
                items.push(node.value);
            }
            _ => {}
        }
        Ok(())
    }
}

fn spend(budget: usize, bytes: usize, line: usize, column: usize) -> Result<usize, Error> {
    budget
        .checked_sub(bytes)
        .ok_or_else(|| fatal(line, column, "the definition is too large once its aliases are expanded"))
}

pub(super) fn too_deep(line: usize, column: usize) -> Error {
    fatal(line, column, format!("the definition is nested more than {DEPTH_MAX} levels deep"))
}

fn place(marker: Marker) -> (usize, usize) {
    (marker.line().max(1), marker.col() + 1)
}

/// A scalar by the core schema of YAML 1.2.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    match tag {
        None if style == ScalarStyle::Plain => plain(text),
        None => Ok(Value::from(text)),
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Ok(Value::from(text)),
        Some(tag) if tag.is_yaml_core_schema() => plain(text),
        Some(tag) if tag.handle.is_empty() && tag.suffix == "!" => Ok(Value::from(text)),
        Some(tag) => Err(format!("the tag `{tag}` is not known: remove it")),
    }
}

fn plain(text: &str) -> Result<Value, String> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(format!("`{text}` is no number that JSON knows"));
    }
    let radix = |prefix, radix| text.strip_prefix(prefix).map(|digits| (digits, radix));
    if let Some((digits, radix)) = radix("0x", 16).or_else(|| radix("0o", 8))
        && !digits.is_empty()
        && digits.chars().all(|c| c.is_digit(radix))
    {
        return u64::from_str_radix(digits, radix).map(Value::from).map_err(|_| too_big(text));
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        let digits = text.strip_prefix('+').unwrap_or(text);
        let signed = digits.parse::<i64>().map(Value::from);
        return signed.or_else(|_| digits.parse::<u64>().map(Value::from)).map_err(|_| too_big(text));
    }
    let float_like = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.bytes().any(|b| b.is_ascii_digit())
        && unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    match text.parse::<f64>() {
        Ok(number) if float_like && number.is_finite() => Ok(Value::from(number)),
        Ok(_) if float_like => Err(too_big(text)),
        _ => Ok(Value::from(text)),
    }
}

fn too_big(text: &str) -> String {
    format!("the number {} is too large: put it in quotes", shorten(text))
}
