//! A path into JSON, in either of two ways of writing.

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json_path::JsonPath;

/// A path that was understood.
pub(crate) enum Path<'a> {
    /// RFC 9535: begins with `$`.
    Query(JsonPath),
    /// The same, where it is nothing but plain names and numbers, which takes no query engine.
    Plain(Vec<Segment<'a>>),
    /// Names and numbers with dots between.
    Dotted(&'a str),
}

/// A step from a value into it.
pub(crate) enum Segment<'a> {
    /// A member of an object.
    Name(&'a str),
    /// An item of an array.
    Item(usize),
}

/// What a path found: nothing is written as null, one as it is, several as an array.
pub(crate) enum Found<'v> {
    /// At most one.
    One(Option<&'v Value>),
    /// None, one or several.
    Several(Vec<&'v Value>),
}

impl<'a> Path<'a> {
    /// Understands a path, or says why not.
    pub(crate) fn parse(text: &'a str) -> Result<Self, String> {
        if let Some(rest) = text.strip_prefix('$') {
            return match plain(rest) {
                Some(segments) => Ok(Self::Plain(segments)),
                None => JsonPath::parse(text).map(Self::Query).map_err(|error| error.to_string()),
            };
        }
        if text.split('.').any(str::is_empty) {
            return Err("it is neither a JSONPath that begins with $ nor names with dots between".into());
        }
        Ok(Self::Dotted(text))
    }

    /// What it finds.
    pub(crate) fn select<'v>(&self, input: &'v Value) -> Found<'v> {
        match self {
            Self::Query(query) => Found::Several(query.query(input).all()),
            Self::Plain(segments) => {
                Found::One(segments.iter().try_fold(input, |value, segment| match (segment, value) {
                    (Segment::Name(name), Value::Object(members)) => members.get(*name),
                    (Segment::Item(at), Value::Array(items)) => items.get(*at),
                    _ => None,
                }))
            }
            Self::Dotted(text) => Found::One(text.split('.').try_fold(input, |value, segment| match value {
                Value::Array(items) => segment.parse().ok().and_then(|at: usize| items.get(at)),
                other => other.get(segment),
            })),
        }
    }
}

impl Serialize for Found<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(found) => found.serialize(serializer),
            Self::Several(found) => match found.as_slice() {
                [] => serializer.serialize_unit(),
                [one] => one.serialize(serializer),
                all => all.serialize(serializer),
            },
        }
    }
}

/// Segments such as `.name` and `[7]`, if there is nothing else.
fn plain(mut rest: &str) -> Option<Vec<Segment<'_>>> {
    let mut segments = Vec::new();
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
            let (name, after) = name.split_at(end);
            name.chars().next().filter(|first| !first.is_ascii_digit())?;
            segments.push(Segment::Name(name));
            rest = after;
        } else {
            let (digits, after) = rest.strip_prefix('[')?.split_once(']')?;
            let number = (1..=9).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit());
            let leading_zero = digits.len() > 1 && digits.starts_with('0');
            segments.push(Segment::Item(digits.parse().ok().filter(|_| number && !leading_zero)?));
            rest = after;
        }
    }
    Some(segments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Pieces that a path may be made of, good and bad, plain and not.
    const PIECES: [&str; 24] = [
        ".",
        "a",
        "b",
        "_c1",
        "[",
        "]",
        "0",
        "1",
        "01",
        "-1",
        "['a']",
        "[\"b\"]",
        "[*]",
        "..",
        "é",
        "[0]",
        ".a",
        ".b",
        "._c1",
        "[1]",
        " ",
        "[1:]",
        "-",
        "9007199254740993",
    ];

    #[test]
    fn a_plain_path_finds_what_the_engine_finds() {
        let input = json!({
            "a": { "a": [0, { "b": [[1], null] }], "b": "text", "_c1": { "a": false } },
            "b": [{ "a": 1, "b": [2] }, [3, [4]], {}], "_c1": null, "é": { "a": 5 }, "0": 6, "01": 7,
        });
        let mut seed = 42_u64;
        let mut next = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % bound
        };
        let (mut taken, mut found) = (0, 0);
        for _ in 0..60_000 {
            let rest: String = (0..next(6)).map(|_| PIECES[next(PIECES.len())]).collect();
            let Some(segments) = plain(&rest) else { continue };
            taken += 1;
            let text = format!("${rest}");
            let query = JsonPath::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let quick = json!(Path::Plain(segments).select(&input));
            assert_eq!(quick, json!(Path::Query(query).select(&input)), "{text}");
            found += usize::from(!quick.is_null());
        }
        assert!(taken > 5_000 && found > 1_000, "{taken} were plain, {found} found something");
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_engine() {
        for rest in
            [".", "..a", ".1", "[01]", "[-1]", "[]", "[1", "['a']", "[*]", ".a b", ".é", " ", ".a-b", "[+1]"]
        {
            assert!(plain(rest).is_none(), "{rest}");
        }
        assert_eq!(plain(".a[0]._b2").map(|segments| segments.len()), Some(3));
        assert_eq!(plain("").map(|segments| segments.len()), Some(0));
    }
}
