//! Templates: what they give, and what is missing.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::template::{Scope, TemplateError, parse, resolve};

fn resolved(template: Value, bytes_max: usize) -> Result<Value, TemplateError> {
    let context = json!({
        "name": "Ada", "n": 7, "none": null, "list": [1, {"x": "two"}], "odd name": true, "evil": "${workflow.context.n}",
        "object": {"b": 1, "a": 2}, "a}b": "brace", "zero": "\u{0}",
    });
    let trigger = json!({"action": "go", "data": {"k": [1]}});
    let variables = json!({"token": "t"});
    let execution = json!({"id": "i-1", "correlationId": "order-7", "businessKey": "order-7"});
    let outputs = HashMap::from([(String::from("first-step"), json!({"x": 5}))]);
    let errors = HashMap::from([(String::from("first-step"), json!({"code": "E1"}))]);
    let scope = Scope {
        context: &context,
        trigger: &trigger,
        variables: &variables,
        execution: &execution,
        outputs: &outputs,
        errors: &errors,
        secrets: &json!({"hook": "~marker~"}),
    };
    resolve(&parse(&template).unwrap(), &scope, bytes_max)
}

#[test]
fn values_keep_their_type_and_text_is_text() {
    let cases = [
        ("plain", json!("plain")),
        ("${workflow.context.name}", json!("Ada")),
        ("${workflow.context.n}", json!(7)),
        ("${ workflow.context.n }", json!(7)),
        ("@{workflow.context.n}", json!(7)),
        ("${workflow.context.none}", json!(null)),
        ("${workflow.context.list[1].x}", json!("two")),
        ("${workflow.context.list.1.x}", json!("two")),
        ("${workflow.context[\"odd name\"]}", json!(true)),
        ("${workflow.context['a}b']}!", json!("brace!")),
        ("${workflow.context.object}", json!({"a": 2, "b": 1})),
        ("${workflow.input.action}", json!("go")),
        ("${workflow.instance.id}", json!("i-1")),
        ("@{_trigger.data}", json!({"k": [1]})),
        ("@{_trigger}", json!({"action": "go", "data": {"k": [1]}})),
        ("Bearer @{_vars.token}", json!("Bearer t")),
        ("@{_execution.id}/@{_execution.correlationId}", json!("i-1/order-7")),
        ("${_execution.businessKey}", json!("order-7")),
        ("https://x/${secrets.hook}", json!("https://x/~marker~")),
        ("${steps.first-step.output.x}", json!(5)),
        ("${steps[\"first-step\"].error.code}", json!("E1")),
        ("n=${workflow.context.n}, l=${workflow.context.list}", json!("n=7, l=[1,{\"x\":\"two\"}]")),
        ("none: ${workflow.context.none}", json!("none: null")),
        ("$${workflow.context.n} and @@{_vars.token}", json!("${workflow.context.n} and @{_vars.token}")),
        ("$$${workflow.context.n}", json!("$${workflow.context.n}")),
        ("costs 5$ at a@b.c, $é @é $", json!("costs 5$ at a@b.c, $é @é $")),
        // Data is never read as a template.
        ("${workflow.context.evil}", json!("${workflow.context.n}")),
        ("<${workflow.context.evil}>", json!("<${workflow.context.n}>")),
    ];
    for (template, expected) in cases {
        assert_eq!(resolved(json!(template), 10_000), Ok(expected), "{template}");
    }
}

#[test]
fn templates_stand_anywhere_in_a_value_but_not_in_names() {
    let template = json!({"a": ["x", "${workflow.context.n}"], "${b}": {"c": "@{_vars.token}", "d": 1}});
    let expected = json!({"a": ["x", 7], "${b}": {"c": "t", "d": 1}});
    assert_eq!(resolved(template, 10_000), Ok(expected));
}

#[test]
fn a_missing_value_is_named() {
    let cases = [
        ("${workflow.context.x.y}", "workflow.context.x"),
        ("${workflow.context.list[2]}", "workflow.context.list[2]"),
        ("${workflow.context.name.first}", "workflow.context.name.first"),
        ("x ${steps.second.output.a}", "steps.second.output"),
        ("${steps.first-step.output.y}", "steps.first-step.output.y"),
        ("@{_trigger.frob}", "_trigger.frob"),
    ];
    for (template, missing) in cases {
        let error = resolved(json!({"input": [{"to": template}]}), 10_000).unwrap_err();
        assert_eq!(error.code(), "template_path_missing");
        let template = template.trim_start_matches("x ");
        let expected = format!("`{template}` in `input[0].to` has no value: there is no `{missing}`");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn expansion_is_limited() {
    let template = json!(vec!["${workflow.context.object}"; 100]);
    assert!(resolved(template.clone(), 10_000).is_ok());
    assert_eq!(resolved(template, 1_000), Err(TemplateError::TooLarge { bytes_max: 1_000 }));
    let text = json!("${workflow.context.object}".repeat(100));
    assert_eq!(resolved(text, 1_000).unwrap_err().code(), "template_too_large");
}

#[test]
fn what_cannot_be_kept_is_refused() {
    assert_eq!(resolved(json!("${workflow.context.zero}"), 1_000).unwrap_err().code(), "template_invalid");
}
