//! Templates, in both styles: what they name is put in, all else stays as it is, and nothing panics.

use std::collections::HashMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use stepwell::domain::definition::Segment;
use stepwell::domain::json::{canonical, check as flaw};
use stepwell::engine::definition::template::{Scope, TemplateError, parse, resolve};

use crate::cases::{USUAL, Verdict, check, fail};
use crate::wild;

const BYTES_MAX: usize = 1 << 20;

fn resolved(value: &Value, context: &Value) -> Result<Result<Value, TemplateError>, String> {
    let template = parse(value).map_err(|flawed| {
        let empty = flawed.iter().any(|(_, message)| message.is_empty());
        assert!(!flawed.is_empty() && !empty, "a refusal says why");
        format!("{flawed:?}")
    })?;
    let scope = Scope {
        context,
        trigger: context,
        variables: context,
        execution: &json!({ "id": "i", "businessKey": null, "version": 1 }),
        outputs: &HashMap::from([(String::from("a"), context.clone())]),
        errors: &HashMap::new(),
        secrets: &json!({}),
    };
    Ok(resolve(&template, &scope, BYTES_MAX))
}

fn any_template() -> impl Strategy<Value = Value> {
    let root = select(
        &[
            "workflow.context",
            "_trigger",
            "_vars",
            "steps.a.output",
            "steps.a.error",
            "_execution",
            "secrets",
            "x",
        ][..],
    );
    let path = (
        select(&["${", "@{", "$${", "@@{", "$", "@{ "][..]),
        root,
        wild::text(),
        select(&["}", " }", ""][..]),
    )
        .prop_map(|(open, root, way, close)| format!("{open}{root}{way}{close}"));
    let text = vec(prop_oneof![wild::text(), path], 0..4).prop_map(|parts| parts.concat());
    prop_oneof![text.clone().prop_map(Value::from), vec(text, 0..3).prop_map(Value::from), wild::json(),]
}

#[test]
fn any_text_is_a_template_or_is_refused() {
    check("any_text_is_a_template", USUAL, (any_template(), wild::json()), |(template, context)| {
        match resolved(&template, &context) {
            Err(_) => Ok(()),
            Ok(Ok(value)) if flaw(&value).is_ok() => Ok(()),
            Ok(Ok(value)) => fail(format!("{value} cannot be kept")),
            Ok(Err(error)) if error.code().starts_with("template_") && !error.to_string().is_empty() => {
                Ok(())
            }
            Ok(Err(error)) => fail(format!("{error:?}")),
        }
    });
}

#[test]
fn what_is_no_template_stays_as_it_is() {
    check("what_is_no_template_stays", USUAL, wild::json(), |value| {
        if canonical(&value).contains(['$', '@']) || flaw(&value).is_err() {
            return Ok(());
        }
        match resolved(&value, &Value::Null) {
            Ok(Ok(same)) if same == value => Ok(()),
            other => fail(format!("{other:?}")),
        }
    });
}

/// A document without anything that cannot be kept, in which every name can be written in a template.
fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        // What it brings in is never a template itself.
        prop_oneof![wild::text(), Just("${workflow.context.a}".to_owned()), Just("$${x}".to_owned())]
            .prop_map(|text| Value::from(text.replace('\0', ""))),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let name = prop_oneof![
            3 => "[a-zA-Z0-9_ř-]{1,8}".prop_map(|s| s),
            1 => wild::name().prop_map(|name| name.replace(['\0', '"'], "")),
        ];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(name, inner, 1..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Walks down by chance; the value, and the way to it.
fn walk(mut value: &Value, turns: &[Index]) -> (Value, Vec<Segment>) {
    let mut way = Vec::new();
    for turn in turns {
        value = match value {
            Value::Array(items) if !items.is_empty() => {
                let at = turn.index(items.len());
                way.push(Segment::Index(at));
                &items[at]
            }
            Value::Object(members) if !members.is_empty() => {
                let (name, member) = turn.get(&members.iter().collect::<Vec<_>>()).to_owned();
                way.push(Segment::Key(name.clone()));
                member
            }
            _ => break,
        };
    }
    (value.clone(), way)
}

fn write(way: &[Segment], brackets: bool) -> String {
    let plain = |key: &str| {
        !key.is_empty()
            && !key.contains(|c: char| {
                c.is_whitespace() || ['.', '[', ']', '{', '}', '"', '\'', '$', '@'].contains(&c)
            })
    };
    let segment = |segment: &Segment| match segment {
        Segment::Index(at) => format!("[{at}]"),
        Segment::Key(key) if plain(key) && !brackets => format!(".{key}"),
        Segment::Key(key) => format!("[\"{key}\"]"),
    };
    way.iter().map(segment).collect()
}

#[test]
fn what_a_path_leads_to_is_put_in() {
    let root = select(&["workflow.context", "workflow.input", "_trigger", "_vars", "steps.a.output"][..]);
    let input = (
        tree(),
        vec(any::<Index>(), 0..6),
        root,
        any::<bool>(),
        any::<bool>(),
        wild::text().prop_map(|text| text.replace(['\0', '$', '@'], "")),
    );
    check(
        "what_a_path_leads_to_is_put_in",
        USUAL,
        input,
        |(context, turns, root, dollar, brackets, around)| {
            let (wanted, way) = walk(&context, &turns);
            let opening = if dollar { "${" } else { "@{" };
            let template = format!("{opening}{root}{}}}", write(&way, brackets));
            known(&json!(template), &context, &wanted)?;
            let shown = wanted.as_str().map_or_else(|| canonical(&wanted), str::to_owned);
            if !around.is_empty() {
                let text = format!("{around}{template}{around}");
                known(&json!(text), &context, &json!(format!("{around}{shown}{around}")))?;
            }
            let nested = json!({ "list": [template, { "escaped": format!("${template}@@{{x}}") }], "n": 1 });
            // Only what a name itself has of a template would be one behind an escape.
            if !dollar || write(&way, brackets).contains(['$', '@']) {
                return Ok(());
            }
            known(
                &nested,
                &context,
                &json!({ "list": [wanted, { "escaped": format!("{template}@{{x}}") }], "n": 1 }),
            )
        },
    );
}

fn known(template: &Value, context: &Value, wanted: &Value) -> Verdict {
    match resolved(template, context) {
        Ok(Ok(value)) if value == *wanted => Ok(()),
        other => fail(format!("{template} gives {other:?}, not {wanted}")),
    }
}
