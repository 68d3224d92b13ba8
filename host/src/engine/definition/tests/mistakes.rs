//! Every kind of mistake, with the line and the field that it is reported for.

use super::{deploy, mistakes};

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let found = mistakes(source);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "found    {found}\nexpected {expected}");
    }
}

#[test]
fn of_the_document() {
    check("steps: []", &["1:1 steps: a workflow has at least one step"]);
    check("name: x", &["1:1 : a definition has a list `steps`"]);
    check("steps: 5", &["1:1 steps: `steps` is a list of steps, not a number"]);
    check("- a", &["1:1 : a definition is an object"]);
    check("", &["1:1 : the definition is empty"]);
    check(
        "nam: x\nsteps:\n- {id: a, type: PASS}",
        &["1:1 nam: the field `nam` is not known: did you mean `name`?"],
    );
    check(
        "inputVariables: []\nsteps:\n- {id: a, type: PASS}",
        &["1:1 inputVariables: `inputVariables` is not"],
    );
    check("variables: 1\nsteps:\n- {id: a, type: PASS}", &["1:1 variables: `variables` is an object"]);
    check("steps:\n- {id: a, type: PASS}\nnodes: []", &["3:1 nodes: `nodes` is another name of `steps`"]);
    check("name: 7\nsteps:\n- {id: a, type: PASS}", &["1:1 name: `name` is text, not a number"]);
}

#[test]
fn of_a_step() {
    check("steps:\n- PASS", &["2:3 steps[0]: a step is an object"]);
    check("steps:\n- type: PASS", &["2:3 steps[0]: the step has no `id`"]);
    check("steps:\n- id: a", &["2:3 steps[0]: the step has no `type`"]);
    check("steps:\n- id: a.b\n  type: PASS", &["2:3 steps[0].id: `a.b` is not a step id"]);
    check("steps:\n- id: end\n  type: PASS", &["2:3 steps[0].id: `end` cannot be"]);
    check(
        "steps:\n- id: 5\n  type: PASS",
        &["2:3 steps[0].id: `id` is text, not a number: put it in quotes"],
    );
    check(
        "steps:\n- {id: a, type: PASS}\n- id: a\n  type: PASS",
        &["3:3 steps[1].id: another step has the id `a`"],
    );
    check("steps:\n- id: a\n  type: PASS\n  config: 1", &["4:3 steps[0].config: `config` is an object"]);
    check(
        "steps:\n- id: a\n  type: PASS\n  dependOn: []",
        &["4:3 steps[0].dependOn: the field `dependOn` is not known: did you mean `dependsOn`?"],
    );
    for field in ["when", "retry", "retryWhen"] {
        let source = format!("steps:\n- id: a\n  type: PASS\n  {field}: x");
        check(&source, &[&format!("4:3 steps[0].{field}: `{field}` is not supported yet")]);
    }
}

#[test]
fn of_types_and_schemas() {
    check(
        "steps:\n- id: a\n  type: EXTERNAL_TSK",
        &["3:3 steps[0].type: no plugin serves the step type `EXTERNAL_TSK`: did you mean `EXTERNAL_TASK`?"],
    );
    check(
        "steps:\n- id: a\n  type: FROB",
        &["3:3 steps[0].type: no plugin serves the step type `FROB`: known are `EXTERNAL_TASK`, `PASS`"],
    );
    check(
        "steps:\n- id: a\n  type: PASS\n  mapper: frob",
        &["4:3 steps[0].mapper: no plugin serves the mapper `frob`"],
    );
    check(
        "steps:\n- id: a\n  type: EXTERNAL_TASK\n  config:\n    retries: 3",
        &["4:3 steps[0].config: `taskType` is missing"],
    );
    check(
        "steps:\n- id: a\n  type: EXTERNAL_TASK\n  config:\n    taskType: x\n    retries: many",
        &["6:5 steps[0].config.retries: is not an integer"],
    );
}

#[test]
fn a_configuration_with_templates_is_checked_as_far_as_it_is_certain() {
    let with = |rest: &str| {
        format!(
            "steps:\n- id: a\n  type: EXTERNAL_TASK\n  config:\n    input: '${{workflow.context.x}}'\n    {rest}"
        )
    };
    check(
        &with("retries: many"),
        &["4:3 steps[0].config: `taskType` is missing", "6:5 steps[0].config.retries: is not"],
    );
    check(
        &with("taskTyp: x"),
        &[
            "4:3 steps[0].config: `taskType` is missing",
            "6:5 steps[0].config.taskTyp: `taskTyp` is not known here: did you mean `taskType`?",
        ],
    );
    check(&with("taskType: x\n    retries: '${workflow.context.retries}'"), &[]);
}

#[test]
fn of_links() {
    check(
        "steps:\n- id: a\n  type: PASS\n  dependsOn: [b]",
        &["4:3 steps[0].dependsOn: there is no step `b`"],
    );
    check(
        "steps:\n- id: a\n  type: PASS\n  dependsOn: [a]",
        &["4:3 steps[0].dependsOn: a step cannot wait for itself"],
    );
    check(
        "steps:\n- id: a\n  type: PASS\n  dependsOn: 1",
        &["4:3 steps[0].dependsOn: `dependsOn` is a step id"],
    );
    check(
        "steps:\n- {id: a, type: PASS}\n- id: b\n  type: PASS\n  dependsOn:\n  - a\n  - a",
        &["7:5 steps[1].dependsOn[1]: `a` is listed twice"],
    );
    check(
        "steps:\n- id: a\n  type: PASS\n  onError:\n    E: b",
        &["5:5 steps[0].onError.E: there is no step `b`"],
    );
    check(
        "steps:\n- id: a\n  type: PASS\n  onError: a",
        &["4:3 steps[0].onError.*: a step's error cannot lead"],
    );
    check("steps:\n- id: a\n  type: PASS\n  onError: [b]", &["4:3 steps[0].onError: `onError` is a step id"]);
}

#[test]
fn of_undoing() {
    let with = |a: &str, b: &str, undo: &str| {
        format!(
            "steps:\n- {{id: a, type: PASS, {a}}}\n- {{id: b, type: PASS{b}}}\n- {{id: undo, type: PASS{undo}}}"
        )
    };
    assert!(deploy(&with("compensate: undo", "", "")).is_ok());
    check(
        &with("compensate: und", "", ""),
        &["2:23 steps[0].compensate: there is no step `und`: did you mean"],
    );
    check(&with("compensate: a", "", ""), &["2:23 steps[0].compensate: a step cannot undo itself"]);
    check(
        &with("compensate: [undo]", "", ""),
        &["2:23 steps[0].compensate: `compensate` is text, not a list"],
    );
    check(
        &with("compensate: undo", ", compensate: undo", ""),
        &["3:23 steps[1].compensate: `undo` undoes `a` already"],
    );
    for field in ["dependsOn: []", "onError: end", "compensate: b"] {
        let name = field.split(':').next().unwrap_or_default();
        check(
            &with("compensate: undo", "", &format!(", {field}")),
            &[&format!("4:26 steps[2].{name}: `undo` undoes `a`")],
        );
    }
    for field in ["dependsOn: undo", "onError: undo"] {
        let name = field.split(':').next().unwrap_or_default();
        check(
            &with("compensate: undo", &format!(", {field}"), ""),
            &[&format!("3:23 steps[1].{name}: `undo` undoes `a`: nothing else")],
        );
    }
}

#[test]
fn of_circles() {
    let circle =
        "steps:\n- {id: a, type: PASS, dependsOn: [c]}\n- {id: b, type: PASS}\n- {id: c, type: PASS}";
    check(circle, &["2:3 steps[0]: the steps go round in a circle: a -> b -> c -> a"]);
    let through_error =
        "steps:\n- {id: a, type: PASS, dependsOn: [b]}\n- {id: b, type: PASS, dependsOn: [], onError: a}";
    assert!(deploy(through_error).is_ok(), "two ways from b to a are no circle");
    let back = "steps:\n- {id: a, type: PASS, dependsOn: []}\n- {id: b, type: PASS, onError: a}";
    check(back, &["2:3 steps[0]: the steps go round in a circle: a -> b -> a"]);
}

#[test]
fn of_mappings() {
    let step = |rest: &str| format!("steps:\n- id: a\n  type: PASS\n  {rest}");
    check(&step("outputMapping: $.x"), &["4:3 steps[0].outputMapping: `outputMapping` is an object"]);
    check(&step("outputMapping: {x: 1}"), &["4:19 steps[0].outputMapping.x: a path is text"]);
    check(
        &step("outputMapping: {x: $.x}\n  config: {outputMapping: {y: $.y}}"),
        &["4:3 steps[0].outputMapping: `outputMapping` stands"],
    );
    check(
        &step("outputMapping: {x: $.x}\n  mapper: shout"),
        &["5:3 steps[0].mapper: `outputMapping` and `mapper`"],
    );
    check(&step("mapper: 1"), &["4:3 steps[0].mapper: `mapper` is a mapper's type"]);
    check(&step("mapper: {config: {}}"), &["4:3 steps[0].mapper.type: a mapper is named"]);
}

#[test]
fn of_templates() {
    let step = |text: &str| format!("steps:\n- id: a\n  type: PASS\n  config:\n    deep:\n    - x: '{text}'");
    let field = "6:7 steps[0].config.deep[0].x: ";
    let case = |text: &str, expected: &str| check(&step(text), &[&format!("{field}{expected}")]);
    case("${secrets}", "`${secrets}`: write `secrets.NAME`");
    case("${secrets.a.b}", "`${secrets.a.b}`: a secret has no parts");
    case("${secrets.ä}", "`${secrets.ä}`: what follows `secrets.` is a name of 1 to 100 letters");
    case("${workflow.context.x", "`${workflow.context.x`: the closing `}` is missing");
    case("${}", "`${}`: a name is missing");
    case("${frob.x}", "`${frob.x}`: a template begins with one of");
    case("@{_trigger.x[}", "`@{_trigger.x[}`: in brackets stands");
    case("${_trigger.x[1}", "`${_trigger.x[1}`: a closing `]` is missing");
    case("${_trigger x}", "`${_trigger x}`: `x` is not expected here");
    case("${workflow.instance.frob}", "`${workflow.instance.frob}`: an instance has `id`");
    case("${steps.b}", "`${steps.b}`: write `steps.b.output`");
    case("${steps.b.output.x}", "`${steps.b.output.x}`: there is no step `b`");
    case("${steps.a.output.x}", "`${steps.a.output.x}`: a step cannot use its own result");
    case("@{_vars.x}", "`@{_vars.x}`: `variables` has no `x`");
    let later = "steps:\n- {id: a, type: PASS, config: {x: '${steps.b.output}'}}\n- {id: b, type: PASS}";
    check(later, &["2:32 steps[0].config.x: `${steps.b.output}`: `b` does not end before `a` begins"]);
}

#[test]
fn all_are_told_and_the_first_is_in_the_sentence() {
    let source = "steps:\n- id: a\n  type: FROB\n  when: x\n- {id: a}";
    let error = deploy(source).unwrap_err().to_string();
    assert!(
        error.starts_with("the definition is not valid: line 3, steps[0].type: no plugin serves"),
        "{error}"
    );
    assert!(error.ends_with("(and 3 more mistakes)"), "{error}");
    let many = format!("steps:\n{}", "- x\n".repeat(500));
    assert_eq!(mistakes(&many).len(), 100, "a list without end helps nobody");
    assert!(deploy(&many).unwrap_err().to_string().ends_with("(and 499 more mistakes)"));
}

#[test]
fn there_are_no_more_steps_than_allowed() {
    let many = format!("steps:\n{}", "- {id: a, type: PASS}\n".repeat(2_001));
    check(&many, &["1:1 steps: there are 2001 steps; at most 2000 are taken"]);
}
