//! YAML and JSON texts: scalars, places, and texts that want to do harm.

use serde_json::json;

use super::super::read;
use super::{document, mistakes};
use crate::domain::limits::Limits;

#[test]
fn scalars_are_those_of_yaml_1_2() {
    let cases = [
        ("600s", json!("600s")),
        ("yes", json!("yes")),
        ("no", json!("no")),
        ("on", json!("on")),
        ("true", json!(true)),
        ("False", json!(false)),
        ("null", json!(null)),
        ("~", json!(null)),
        ("", json!(null)),
        ("3", json!(3)),
        ("-3", json!(-3)),
        ("+3", json!(3)),
        ("18446744073709551615", json!(u64::MAX)),
        ("0x1F", json!(31)),
        ("0o17", json!(15)),
        ("1.5", json!(1.5)),
        ("1e3", json!(1000.0)),
        (".5", json!(0.5)),
        ("1.2.3", json!("1.2.3")),
        ("2026-01-31", json!("2026-01-31")),
        ("12:30", json!("12:30")),
        ("e5", json!("e5")),
        ("-", json!([null])),
        ("'3'", json!("3")),
        ("\"a\\nb\"", json!("a\nb")),
        ("!!str 3", json!("3")),
        ("infinity", json!("infinity")),
        ("nan", json!("nan")),
        ("|\n  two\n  lines\n", json!("two\nlines\n")),
    ];
    for (text, expected) in cases {
        let source = if text == "-" { String::from("x:\n-\n") } else { format!("x: {text}\n") };
        assert_eq!(document(&source).value()["x"], expected, "{text}");
    }
}

#[track_caller]
fn refused(source: &str, expected: &str) {
    let found = mistakes(source);
    assert!(found.first().is_some_and(|found| found.contains(expected)), "{found:?} lacks {expected}");
}

#[test]
fn broken_text_is_refused_with_its_place() {
    refused("a: b: c", "1:5");
    refused("a: 1\nb: 'x", "this is not YAML");
    refused("{\"a\": 1,\n \"b\" 2}", "2:");
    refused("{\"a\": 1,\n \"b\" 2}", "this is not JSON: expected `:`");
    refused("a: 1\nb: 2\na: 3", "3:1 : `a` stands twice");
    refused("{\"a\": 1,\n  \"a\": 3}", "2:3 : `a` stands twice");
    refused("a: 1\n---\nb: 2", "2:1 : there is a second document");
    refused("? [a]\n: 1", "the name of a field must be text");
    refused("a: !frob 1", "1:4 : the tag `!frob` is not known");
    refused("a: .inf", "1:4 : `.inf` is no number that JSON knows");
    refused(
        "a: 99999999999999999999999",
        "1:4 : the number 99999999999999999999999 is too large: put it in quotes",
    );
    refused("a: 1\0", "1:5 : the character U+0000");
    refused("a: \"\\0\"", "U+0000");
    refused("{\"a\": \"\\u0000\"}", "U+0000");
}

#[test]
fn places_are_counted_in_characters() {
    refused("name: čaj\nsteps: [{id: č, type: PASS}]", "2:10 steps[0].id");
    refused("{\"name\": \"čaj\", \"steps\": 5}", "1:17 steps:");
    refused("{\n\t\"steps\": [\n\t\t{\"id\": \"a\\\"b\", \"type\": \"PASS\"}]}", "3:4 steps[0].id");
}

#[test]
fn json_escapes_are_those_of_json() {
    let read = document(r#"{"name": "\ud83d\ude00 \/", "a": [1, -2.5e3, true, null, {}], "b": []}"#);
    assert_eq!(*read.value(), json!({"name": "😀 /", "a": [1, -2500.0, true, null, {}], "b": []}));
}

#[test]
fn flow_style_is_yaml() {
    assert_eq!(*document("{a: b, c: [d]}").value(), json!({"a": "b", "c": ["d"]}));
}

#[test]
fn aliases_are_expanded_within_limits() {
    let read = document("a: &x {b: 1}\nc: *x\nd: [*x, *x]");
    assert_eq!(*read.value(), json!({"a": {"b": 1}, "c": {"b": 1}, "d": [{"b": 1}, {"b": 1}]}));
    refused("a: &x [*x]", "this alias repeats");
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let below = format!("*a{}, ", level - 1).repeat(9);
        bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    refused(&bomb, "too large once its aliases are expanded");
    let mut tower = String::from("a0: &a0 [x]\n");
    for level in 1..100 {
        tower.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    refused(&tower, "nested more than 64 levels");
}

#[test]
fn depth_is_limited() {
    for depth in [65, 1_000, 100_000] {
        refused(&format!("a: {}{}", "[".repeat(depth), "]".repeat(depth)), "nested more than 64 levels");
        refused(
            &format!("{{\"a\": {}{}}}", "[".repeat(depth), "]".repeat(depth)),
            "nested more than 64 levels",
        );
    }
    document(&format!("a: {}{}", "[".repeat(63), "]".repeat(63)));
}

#[test]
fn size_is_limited() {
    let limits = Limits { definition_bytes_max: 10, ..Limits::default() };
    let error = read("steps: [xxxxxxx]", &limits).unwrap_err();
    assert_eq!(error.to_string(), "the definition has 16 bytes; at most 10 are taken");
}

#[test]
fn a_long_line_costs_no_more_than_many() {
    let items = vec!["1"; 200_000].join(",");
    assert_eq!(
        document(&format!("{{\"a\":[{items}]}}")).value()["a"].as_array().map(Vec::len),
        Some(200_000)
    );
    assert_eq!(document(&format!("a: [{items}]")).value()["a"].as_array().map(Vec::len), Some(200_000));
}

#[test]
fn a_mistake_repeats_only_a_little_of_the_document() {
    let long = "x".repeat(5_000);
    let sources = [
        format!("steps:\n- id: a\n  type: PASS\n  config:\n    x: ${{{long}}}\n"),
        format!("{{\"{long}\": 1, \"{long}\": 2}}"),
        format!("steps:\n- id: a\n  type: PASS\n  {long}: 1\n"),
        format!(
            "variables: {{{long}: '${{x}}'}}\nsteps:\n- id: a\n  type: PASS\n  config: {{{long}: '${{x}}'}}\n"
        ),
    ];
    for source in sources {
        let found = mistakes(&source);
        assert!(!found.is_empty(), "{source}");
        assert!(found.iter().all(|mistake| mistake.len() < 1_300), "{found:?}");
    }
}
