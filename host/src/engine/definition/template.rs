//! Templates in configurations: parsed once when a workflow is compiled, resolved when a step starts.
//!
//! What a template brings in is data and is never read as a template again.

use serde_json::Value;

use super::path;
pub use super::resolve::{Callback, Scope, TemplateError, execution, resolve};
pub(super) use super::resolve::{look_up, written};
use crate::domain::definition::{Path, Piece, Root, Segment, Template};

/// A mistake in a template: where in the value, as segments, and what.
pub type Flawed = (Vec<Segment>, String);

/// Finds the templates in a value.
pub fn parse(value: &Value) -> Result<Template, Vec<Flawed>> {
    let mut flawed = Vec::new();
    let template = parse_at(value, &mut Vec::new(), &mut flawed);
    if flawed.is_empty() { Ok(template) } else { Err(flawed) }
}

/// Ids of the steps whose output or error a template names, each once.
pub fn references(template: &Template) -> Vec<String> {
    let mut steps = Vec::new();
    visit(template, &mut Vec::new(), &mut |_, path| {
        if let Root::StepOutput(id) | Root::StepError(id) = &path.root {
            steps.push(id.clone());
        }
    });
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// Names of the secrets that a template names, each once.
pub fn secrets(template: &Template) -> Vec<String> {
    let mut names = Vec::new();
    visit(template, &mut Vec::new(), &mut |_, path| {
        if let (Root::Secrets, Some(Segment::Key(name))) = (&path.root, path.segments.first()) {
            names.push(name.clone());
        }
    });
    names.sort_unstable();
    names.dedup();
    names
}

/// Calls a function with each path in a template, and the way to where it stands.
pub(super) fn visit<'a>(
    template: &'a Template,
    way: &mut Vec<Segment>,
    see: &mut impl FnMut(&[Segment], &'a Path),
) {
    match template {
        Template::Literal(_) => {}
        Template::Whole(path) => see(way, path),
        Template::Text(pieces) => pieces.iter().for_each(|piece| {
            if let Piece::Value(path) = piece {
                see(way, path);
            }
        }),
        Template::Array(items) => items.iter().enumerate().for_each(|(at, item)| {
            way.push(Segment::Index(at));
            visit(item, way, see);
            way.pop();
        }),
        Template::Object(members) => members.iter().for_each(|(name, member)| {
            way.push(Segment::Key(name.clone()));
            visit(member, way, see);
            way.pop();
        }),
    }
}

fn parse_at(value: &Value, way: &mut Vec<Segment>, flawed: &mut Vec<Flawed>) -> Template {
    match value {
        Value::String(text) => parse_text(text).unwrap_or_else(|message| {
            flawed.push((way.clone(), message));
            Template::Literal(Value::Null)
        }),
        Value::Array(items) => {
            let mut parse_item = |(at, item)| {
                way.push(Segment::Index(at));
                let template = parse_at(item, way, flawed);
                way.pop();
                template
            };
            let items: Vec<Template> = items.iter().enumerate().map(&mut parse_item).collect();
            if items.iter().all(|item| matches!(item, Template::Literal(_))) {
                return Template::Literal(Value::Array(items.into_iter().filter_map(literal).collect()));
            }
            Template::Array(items)
        }
        Value::Object(members) => {
            let mut parse_member = |(name, member): (&String, &Value)| {
                way.push(Segment::Key(name.clone()));
                let template = parse_at(member, way, flawed);
                way.pop();
                (name.clone(), template)
            };
            let members: Vec<(String, Template)> = members.iter().map(&mut parse_member).collect();
            if members.iter().all(|(_, member)| matches!(member, Template::Literal(_))) {
                let literals =
                    members.into_iter().filter_map(|(name, member)| Some((name, literal(member)?)));
                return Template::Literal(Value::Object(literals.collect()));
            }
            Template::Object(members)
        }
        other => Template::Literal(other.clone()),
    }
}

fn literal(template: Template) -> Option<Value> {
    match template {
        Template::Literal(value) => Some(value),
        _ => None,
    }
}

fn parse_text(text: &str) -> Result<Template, String> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '@']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let opening = rest.get(..2).unwrap_or_default();
        if let Some(escaped) = ["$${", "@@{"].into_iter().find(|escaped| rest.starts_with(escaped)) {
            plain.push_str(&escaped[1..]);
            rest = &rest[escaped.len()..];
        } else if matches!(opening, "${" | "@{") {
            let (path, length) = path::parse(opening, &rest[2..])?;
            rest = &rest[2 + length..];
            if !plain.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Value(path));
        } else {
            plain.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    plain.push_str(rest);
    if pieces.is_empty() {
        return Ok(Template::Literal(Value::String(plain)));
    }
    if !plain.is_empty() {
        pieces.push(Piece::Literal(plain));
    }
    match <[Piece; 1]>::try_from(pieces) {
        Ok([Piece::Value(path)]) => Ok(Template::Whole(path)),
        Ok(pieces) => Ok(Template::Text(pieces.into())),
        Err(pieces) => Ok(Template::Text(pieces)),
    }
}
