//! What stands between the braces of a template: a root, and a way from there.

use crate::domain::definition::{Path, Root, Segment};
use crate::domain::secret::check_name;

/// Fields of `workflow.instance` and `_execution`.
pub(super) const EXECUTION_FIELDS: [&str; 8] =
    ["id", "correlationId", "callbackToken", "callbackPath", "businessKey", "workflow", "version", "tenant"];

const ROOTS: &str = "`workflow.context`, `workflow.input`, `workflow.instance`, `steps.ID.output`, `steps.ID.error`, \
                     `_trigger`, `_vars`, `_execution` and `secrets.NAME`";

/// Reads a path from the text after an opening brace; gives the path and the number of bytes up to and with the
/// closing brace. `opening` is `${` or `@{`.
pub(super) fn parse(opening: &str, text: &str) -> Result<(Path, usize), String> {
    let mut cursor = Cursor { text, at: 0 };
    let segments = cursor.segments().map_err(|problem| {
        let end = text.find('}').map_or(text.len(), |end| end + 1);
        format!("`{opening}{}`: {problem}", super::report::shorten(&text[..end]))
    })?;
    let source = format!("{opening}{}", &text[..cursor.at]);
    let (root, rest) = root(&segments).map_err(|problem| format!("`{source}`: {problem}"))?;
    Ok((Path { source, root, segments: segments[rest..].to_vec() }, cursor.at))
}

/// Which root it is, and how many segments name it.
fn root(segments: &[Segment]) -> Result<(Root, usize), String> {
    let key = |at: usize| match segments.get(at) {
        Some(Segment::Key(key)) => Some(key.as_str()),
        _ => None,
    };
    let found = match (key(0).unwrap_or_default(), key(1)) {
        ("workflow", Some("context")) => (Root::Context, 2),
        ("workflow", Some("input")) => (Root::Trigger, 2),
        ("workflow", Some("instance")) => (Root::Execution, 2),
        ("_trigger", _) => (Root::Trigger, 1),
        ("_vars", _) => (Root::Variables, 1),
        ("_execution", _) => (Root::Execution, 1),
        ("steps", Some(id)) => match key(2) {
            Some("output") => (Root::StepOutput(id.to_owned()), 3),
            Some("error") => (Root::StepError(id.to_owned()), 3),
            _ => return Err(format!("write `steps.{id}.output` or `steps.{id}.error`")),
        },
        ("secrets", Some(name)) => {
            check_name(name).map_err(|problem| format!("what follows `secrets.` {problem}"))?;
            if segments.len() > 2 {
                return Err(String::from("a secret has no parts"));
            }
            (Root::Secrets, 1)
        }
        ("secrets", None) => return Err(String::from("write `secrets.NAME`")),
        _ => return Err(format!("a template begins with one of {ROOTS}")),
    };
    if found.0 == Root::Execution
        && let Some(segment) = segments.get(found.1)
        && !matches!(segment, Segment::Key(key) if EXECUTION_FIELDS.contains(&key.as_str()))
    {
        return Err(format!("an instance has {}", super::suggest::list(&EXECUTION_FIELDS)));
    }
    Ok(found)
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl Cursor<'_> {
    /// Segments up to the closing brace.
    fn segments(&mut self) -> Result<Vec<Segment>, String> {
        self.skip_spaces();
        let mut segments = vec![Segment::Key(self.name()?)];
        loop {
            self.skip_spaces();
            match self.next() {
                Some('}') => return Ok(segments),
                Some('.') => segments.push(Segment::Key(self.name()?)),
                Some('[') => segments.push(self.bracket()?),
                Some(other) => return Err(format!("`{other}` is not expected here")),
                None => {
                    return Err(String::from(
                        "the closing `}` is missing (for plain text, double the first sign)",
                    ));
                }
            }
        }
    }

    fn name(&mut self) -> Result<String, String> {
        let rest = &self.text[self.at..];
        let stop =
            |c: char| c.is_whitespace() || matches!(c, '.' | '[' | ']' | '{' | '}' | '"' | '\'' | '$' | '@');
        let length = rest.find(stop).unwrap_or(rest.len());
        if length == 0 {
            return Err(String::from("a name is missing"));
        }
        self.at += length;
        Ok(rest[..length].to_owned())
    }

    fn bracket(&mut self) -> Result<Segment, String> {
        let rest = &self.text[self.at..];
        let segment = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let inner = &rest[1..];
                let end = inner.find(quote).ok_or_else(|| String::from("a closing quote is missing"))?;
                self.at += end + 2;
                Segment::Key(inner[..end].to_owned())
            }
            _ => {
                let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                let index = rest[..length]
                    .parse()
                    .map_err(|_| String::from("in brackets stands a number from 0, or a name in quotes"))?;
                self.at += length;
                Segment::Index(index)
            }
        };
        match self.next() {
            Some(']') => Ok(segment),
            _ => Err(String::from("a closing `]` is missing")),
        }
    }

    fn next(&mut self) -> Option<char> {
        let next = self.text[self.at..].chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches(' ').len();
    }
}
