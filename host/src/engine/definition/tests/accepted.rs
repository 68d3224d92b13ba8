//! Documents that are taken, and what becomes of them.

use serde_json::{Value, json};

use super::super::{choose_key, recompile};
use super::{deploy, document};
use crate::domain::definition::{ErrorTarget, Step, Workflow};

/// The external task as its users write it.
const JIRA: &str = r#"
steps:
  - id: "create-jira-ticket-via-n8n"
    type: "EXTERNAL_TASK"
    config:
      taskType: "n8n-jira-create-ticket"
      input:
        projectKey: "${workflow.context.projectKey}"
        summary: "${workflow.context.ticketTitle}"
        description: "${workflow.context.description}"
        priority: "HIGH"
      timeout: 600s  # 10 minut
      lockDuration: 300s  # 5 minut
      retries: 3
      heartbeat:
        interval: 60s  # Worker musí poslat heartbeat každou minutu
        maxMissed: 2   # Max 2 missed heartbeats → unlock task
      outputMapping:
        jiraTicketId: "$.result.ticketId"
        jiraTicketUrl: "$.result.url"
"#;

#[test]
fn the_jira_workflow_is_taken_word_for_word() {
    let read = document(JIRA);
    assert_eq!(
        read.value()["steps"][0]["config"]["heartbeat"],
        json!({"interval": "60s", "maxMissed": 2}),
        "durations stay text, numbers are numbers"
    );
    assert_eq!(read.value()["steps"][0]["config"]["timeout"], json!("600s"));

    let workflow = deploy(JIRA).unwrap();
    let step = workflow.step("create-jira-ticket-via-n8n").unwrap();
    assert_eq!((step.incoming, step.step_type.as_str()), (0, "EXTERNAL_TASK"));
    let mapping = step.mapping.as_ref().unwrap();
    assert_eq!((mapping.mapper.as_str(), mapping.into_context), ("jsonpath", true));
    let paths: Value = serde_json::from_str(&mapping.config).unwrap();
    assert_eq!(paths, json!({"jiraTicketId": "$.result.ticketId", "jiraTicketUrl": "$.result.url"}));
    assert!(!format!("{:?}", step.config).contains("outputMapping"), "the plugin does not see it");
}

#[test]
fn a_stored_document_compiles_to_the_same_workflow() {
    let read = document(JIRA);
    let again = recompile(read.value(), "test", 1).unwrap();
    assert_eq!(format!("{:?}", deploy(JIRA).unwrap()), format!("{again:?}"));
}

#[test]
fn json_and_yaml_are_the_same() {
    let json = r#"{"nodes": [{"id": "a", "type": "PASS", "data": {"x": 1}}, {"id": "b", "type": "PASS"}]}"#;
    let yaml = "steps:\n- {id: a, type: PASS, config: {x: 1}}\n- id: b\n  type: PASS\n";
    assert_eq!(format!("{:?}", deploy(json).unwrap()), format!("{:?}", deploy(yaml).unwrap()));
}

/// Links as `id <- depends_on [incoming] -> successors`.
fn links(workflow: &Workflow) -> Vec<String> {
    let line = |step: &Step| {
        let (before, after) = (step.depends_on.join(","), step.successors.join(","));
        format!("{} <- {before} [{}] -> {after}", step.id, step.incoming)
    };
    workflow.steps.iter().map(|step| line(step)).collect()
}

#[test]
fn steps_are_linked() {
    let check = |steps: &str, expected: &[&str]| {
        let source = format!("steps:\n{steps}");
        assert_eq!(links(&deploy(&source).unwrap()), expected, "{steps}");
    };
    // Without `dependsOn`, one follows the other.
    check(
        "- {id: a, type: PASS}\n- {id: b, type: PASS}\n- {id: c, type: PASS}",
        &["a <-  [0] -> b", "b <- a [1] -> c", "c <- b [1] -> "],
    );
    // Two roots, and a join.
    check(
        "- {id: a, type: PASS}\n- {id: b, type: PASS, dependsOn: []}\n- {id: c, type: PASS, dependsOn: [a, b]}",
        &["a <-  [0] -> c", "b <-  [0] -> c", "c <- a,b [2] -> "],
    );
    // An error handler is reached by the error alone, and the step after it follows the one before it.
    check(
        "- {id: a, type: PASS, onError: {E: fix, F: fix}}\n- {id: fix, type: PASS}\n- {id: c, type: PASS}",
        &["a <-  [0] -> c", "fix <-  [1] -> ", "c <- a [1] -> "],
    );
    // So does a step that undoes another: it is no root, and nothing follows it.
    check(
        "- {id: a, type: PASS, compensate: undo}\n- {id: undo, type: PASS}\n- {id: c, type: PASS}",
        &["a <-  [0] -> c", "undo <-  [1] -> ", "c <- a [1] -> "],
    );
    // A step may be reached both ways.
    check(
        "- {id: a, type: PASS, onError: b}\n- {id: b, type: PASS, dependsOn: a}\n- {id: c, type: PASS}",
        &["a <-  [0] -> b", "b <- a [2] -> c", "c <- b [1] -> "],
    );
}

#[test]
fn errors_lead_to_steps_or_to_the_end() {
    let source =
        "steps:\n- {id: a, type: PASS, onError: {NO: end, '*': b}}\n- {id: b, type: PASS, onError: end}";
    let workflow = deploy(source).unwrap();
    let of = |id: &str, code: &str| workflow.step(id).unwrap().on_error.target(code).cloned();
    assert_eq!(of("a", "NO"), Some(ErrorTarget::End));
    assert_eq!(of("a", "other"), Some(ErrorTarget::Step(String::from("b"))));
    assert_eq!(of("b", "any"), Some(ErrorTarget::End));
}

#[test]
fn mappers_are_named() {
    let mapping = |mapper: &str| {
        let source = format!("steps:\n- {{id: a, type: PASS, mapper: {mapper}}}");
        let mapping = deploy(&source).unwrap().steps[0].mapping.clone().unwrap();
        (mapping.mapper, mapping.config, mapping.into_context)
    };
    assert_eq!(mapping("shout"), (String::from("shout"), String::from("{}"), false));
    let with_config = (String::from("shout"), String::from(r#"{"loud":true}"#), false);
    assert_eq!(mapping("{type: shout, config: {loud: true}}"), with_config);
    assert_eq!(mapping("{name: shout, config: {loud: true}}"), with_config);
}

#[test]
fn the_key_is_the_callers_or_the_documents() {
    let with_key = document("key: mine\nsteps: []");
    let without = document("steps: []");
    assert_eq!(choose_key(&with_key, None).unwrap(), "mine");
    assert_eq!(choose_key(&with_key, Some("yours")).unwrap(), "yours");
    assert!(choose_key(&without, None).unwrap_err().to_string().contains("has no key"));
    assert!(choose_key(&without, Some("a b")).unwrap_err().to_string().contains("is not a workflow key"));
}

#[test]
fn references_are_known() {
    let source = r#"
variables: {list: [1, 2]}
steps:
- {id: a, type: PASS, onError: fix}
- {id: fix, type: PASS, config: {why: "${steps.a.error.code}"}}
- {id: c, type: PASS, config: {x: "got ${steps.a.output.id}", y: "@{_vars.list[1]}"}}
"#;
    let workflow = deploy(source).unwrap();
    assert_eq!(workflow.step("fix").unwrap().references, ["a"]);
    assert_eq!(workflow.step("c").unwrap().references, ["a"]);
}
