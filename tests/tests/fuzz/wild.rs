//! Wild input: text, JSON, and edits of what was sound.

use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::{Index, select};
use serde_json::Value;

/// Words that have broken something somewhere.
const WORDS: &[&str] = &[
    "",
    " ",
    "\0",
    "\u{1}",
    "\n",
    "\r\n",
    "\t",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\u{202e}",
    "\u{10ffff}",
    "e\u{301}",
    "İ",
    "𝒳",
    "👩‍👧",
    "null",
    "~",
    "true",
    "NaN",
    ".inf",
    "-0",
    "-0.0",
    "1e309",
    "1e-400",
    "0x10",
    "0o7",
    "+1",
    "2147483648",
    "9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999999999999999999",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:59",
    "2026-02-30T00:00:00Z",
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "'",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "%00",
    "%ff",
    "../..",
    "'; drop table workflow_instances; --",
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    "- ",
    "#",
    ",",
    "&a ",
    "*a",
    "<<: *a",
    "!!str ",
    "!x ",
    "---\n",
    "...\n",
    "|\n",
    ">-\n",
    "? ",
    "${",
    "@{",
    "$${",
    "${workflow.context.a}",
    "@{steps.a.output[0]}",
    "${_vars['x']}",
    "$.a[*]",
    "$..*",
    "dependsOn: [a]\n",
    "onError:\n",
    "compensate: a\n",
    "steps:\n",
    "config:\n",
    "outputMapping:\n",
    "1h30m",
    "PT10M",
];

/// Any characters, words of ill repute, and both together.
pub fn text() -> impl Strategy<Value = String> {
    let word = || select(WORDS).prop_map(str::to_owned);
    prop_oneof![
        4 => word(),
        3 => vec(any::<char>(), 0..20).prop_map(String::from_iter),
        3 => vec(prop_oneof![word(), vec(any::<char>(), 0..4).prop_map(String::from_iter), "[ -~]{0,6}".prop_map(|s| s)], 0..8)
            .prop_map(|parts| parts.concat()),
        2 => "[a-z0-9_.-]{0,12}".prop_map(|s| s),
        // Nothing that compresses: what a database keeps of it is as long as it is.
        1 => (any::<u64>(), 0..12_000_usize).prop_map(|(seed, length)| noise(seed, length)),
    ]
}

/// Letters without a pattern.
fn noise(seed: u64, length: usize) -> String {
    use rand::{RngExt as _, SeedableRng as _};
    let mut random = rand::rngs::StdRng::seed_from_u64(seed);
    (0..length).map(|_| char::from(random.random_range(b'a'..=b'z'))).collect()
}

/// Any JSON.
pub fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-3_i64..3).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let nested = leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(name(), inner, 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    prop_oneof![12 => nested, 1 => (1_usize..300).prop_map(deep)]
}

/// Names of members: some that occur, some that nobody expects.
pub fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        select(&["a", "b", "id", "key", "0", "name", "context", "message", "code", "x.y"][..])
            .prop_map(str::to_owned),
        text(),
    ]
}

/// Arrays in arrays.
fn deep(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

/// One change of a text.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Takes a piece out.
    Remove(Index, usize),
    /// Puts something in.
    Insert(Index, String),
    /// Puts a piece of it in somewhere else.
    Copy(Index, usize, Index),
    /// Repeats a piece of it in place.
    Repeat(Index, usize, usize),
    /// Ends it early.
    Cut(Index),
}

/// Some changes.
pub fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        3 => (any::<Index>(), 1..12_usize).prop_map(|(at, length)| Edit::Remove(at, length)),
        5 => (any::<Index>(), text()).prop_map(|(at, text)| Edit::Insert(at, text)),
        3 => (any::<Index>(), 1..40_usize, any::<Index>()).prop_map(|(from, length, to)| Edit::Copy(from, length, to)),
        1 => (any::<Index>(), 1..8_usize, 2..200_usize).prop_map(|(at, length, times)| Edit::Repeat(at, length, times)),
        1 => any::<Index>().prop_map(Edit::Cut),
    ];
    vec(edit, 0..5)
}

/// A text after some changes.
pub fn edited(sound: &str, edits: &[Edit]) -> String {
    let mut letters: Vec<char> = sound.chars().collect();
    for edit in edits {
        let at = |index: &Index, letters: &Vec<char>| index.index(letters.len() + 1);
        let piece = |from: usize, length: usize, letters: &Vec<char>| {
            letters[from..(from + length).min(letters.len())].to_vec()
        };
        match edit {
            Edit::Remove(index, length) => {
                let from = at(index, &letters);
                letters.drain(from..(from + length).min(letters.len()));
            }
            Edit::Insert(index, text) => {
                let from = at(index, &letters);
                letters.splice(from..from, text.chars());
            }
            Edit::Copy(from, length, to) => {
                let copied = piece(at(from, &letters), *length, &letters);
                let to = at(to, &letters);
                letters.splice(to..to, copied);
            }
            Edit::Repeat(index, length, times) => {
                let from = at(index, &letters);
                let repeated = piece(from, *length, &letters).repeat(*times);
                letters.splice(from..from, repeated);
            }
            Edit::Cut(index) => letters.truncate(at(index, &letters)),
        }
    }
    letters.into_iter().collect()
}
