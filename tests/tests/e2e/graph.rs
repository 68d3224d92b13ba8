//! Paths through a workflow: sequence, branches, joins, errors, cancellation.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, step};

/// A step after the other; templates keep types, and mapped names reach the context.
async fn steps_follow_each_other(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let source = r#"
variables: { limit: 5 }
steps:
  - id: first
    type: EXTERNAL_TASK
    config: { taskType: first, input: { who: "hello ${workflow.context.name}", limit: "@{_vars.limit}" } }
    outputMapping: { total: $.sum }
  - id: second
    type: EXTERNAL_TASK
    config:
      taskType: second
      input: { list: "${steps.first.output.total}", total: "${workflow.context.total}", id: "@{_execution.id}" }
"#;
    client.deploy("two", source).await?;
    let id = client.start("two", json!({ "name": "Ada" })).await?;
    let first = client.poll("first", "w").await?;
    assert_eq!(first["input"], json!({ "who": "hello Ada", "limit": 5 }));
    assert!(client.poll_with("taskType=second&waitSeconds=0").await?.is_empty(), "its turn has not come");
    client.complete(&first, &json!({ "sum": [1, 2] })).await?;
    let second = client.poll("second", "w").await?;
    assert_eq!(second["input"], json!({ "list": [1, 2], "total": [1, 2], "id": id }));
    client.complete(&second, &json!({})).await?;
    client.instance_is(&id, "completed").await?;
    host.stop().await;
    Ok(())
}

/// Branches run side by side, and what joins them waits for both.
async fn branches_join(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let source = "steps:
  - { id: a, type: EXTERNAL_TASK, config: { taskType: a } }
  - { id: b, type: EXTERNAL_TASK, dependsOn: [a], config: { taskType: b } }
  - { id: c, type: EXTERNAL_TASK, dependsOn: [a], config: { taskType: c } }
  - { id: d, type: EXTERNAL_TASK, dependsOn: [b, c], config: { taskType: d, input: { b: \"${steps.b.output.n}\" } } }
";
    client.deploy("diamond", source).await?;
    let id = client.start("diamond", json!({})).await?;
    client.work("a", &json!({})).await?;
    let (b, c) = (client.poll("b", "w").await?, client.poll("c", "w").await?);
    client.complete(&c, &json!({})).await?;
    assert!(client.poll_with("taskType=d&waitSeconds=0").await?.is_empty(), "b is still open");
    client.complete(&b, &json!({ "n": 7 })).await?;
    let d = client.poll("d", "w").await?;
    assert_eq!(d["input"], json!({ "b": 7 }));
    client.complete(&d, &json!({})).await?;
    let instance = client.instance_is(&id, "completed").await?;
    assert!(["a", "b", "c", "d"].iter().all(|id| step(&instance, id)["status"] == "completed"), "{instance}");
    host.stop().await;
    Ok(())
}

/// Many branches that end at once: the join happens once, and no result is lost.
async fn a_wide_join_happens_once(db: TestDb) -> Result<()> {
    const WIDTH: usize = 40;
    let host = Host::start(&db).await?;
    let client = &host.client;
    let steps: String = (0..WIDTH)
        .map(|n| {
            format!("  - {{ id: s{n}, type: EXTERNAL_TASK, dependsOn: [], config: {{ taskType: part }} }}\n")
        })
        .collect();
    let all: Vec<String> = (0..WIDTH).map(|n| format!("s{n}")).collect();
    let join = format!(
        "  - {{ id: join, type: EXTERNAL_TASK, dependsOn: [{}], config: {{ taskType: join }} }}\n",
        all.join(", ")
    );
    client.deploy("wide", format!("steps:\n{steps}{join}")).await?;
    let id = client.start("wide", json!({})).await?;
    let tasks = client.poll_with(&format!("taskType=part&maxTasks={WIDTH}")).await?;
    assert_eq!(tasks.len(), WIDTH);
    let reports =
        tasks.iter().map(async |task| client.complete(task, &json!({ "step": task["stepId"] })).await);
    futures::future::try_join_all(reports).await?;
    let join = client.poll_with("taskType=join&maxTasks=10").await?;
    assert_eq!(join.len(), 1);
    client.complete(&join[0], &json!({})).await?;
    let instance = client.instance_is(&id, "completed").await?;
    for n in 0..WIDTH {
        let name = format!("s{n}");
        assert_eq!(step(&instance, &name)["output"]["step"], name);
    }
    host.stop().await;
    Ok(())
}

const ERRORS: &str = "steps:
  - id: pay
    type: EXTERNAL_TASK
    config: { taskType: pay, retries: 1 }
    onError: { NO_MONEY: remind, FRAUD: end }
  - { id: remind, type: EXTERNAL_TASK, config: { taskType: remind, input: { why: \"${steps.pay.error.code}\" } } }
  - { id: ship, type: EXTERNAL_TASK, dependsOn: [pay], config: { taskType: ship } }
";

async fn fail_payment(client: &Client, code: &str) -> Result<String> {
    let id = client.start("pay", json!({})).await?;
    let task = client.poll("pay", "w").await?;
    client.report(&task, "fail", &json!({ "message": "refused", "code": code })).await?.expect(200)?;
    Ok(id)
}

/// An error leads to a step, to the end of its path, or fails the instance; the paths not taken are skipped.
async fn errors_lead_where_they_are_told(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("pay", ERRORS).await?;

    let caught = fail_payment(client, "NO_MONEY").await?;
    let remind = client.poll("remind", "w").await?;
    assert_eq!(remind["input"], json!({ "why": "NO_MONEY" }));
    client.complete(&remind, &json!({})).await?;
    let instance = client.instance_is(&caught, "completed").await?;
    assert_eq!(step(&instance, "pay")["status"], "failed");
    assert_eq!(step(&instance, "ship")["status"], "skipped");

    let ended = fail_payment(client, "FRAUD").await?;
    let instance = client.instance_is(&ended, "completed").await?;
    assert_eq!(step(&instance, "remind")["status"], "skipped");

    let failed = fail_payment(client, "SOMETHING_ELSE").await?;
    let instance = client.instance_is(&failed, "failed").await?;
    assert_eq!(instance["error"]["code"], "SOMETHING_ELSE");

    let good = client.start("pay", json!({})).await?;
    client.work("pay", &json!({})).await?;
    client.work("ship", &json!({})).await?;
    let instance = client.instance_is(&good, "completed").await?;
    assert_eq!(step(&instance, "remind")["status"], "skipped");
    host.stop().await;
    Ok(())
}

/// Cancelling closes all that is open, tells the workers, and can be repeated.
async fn cancelling_closes_everything(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let source = "steps:
  - { id: a, type: EXTERNAL_TASK, dependsOn: [], config: { taskType: a } }
  - { id: b, type: EXTERNAL_TASK, dependsOn: [], config: { taskType: b } }
  - { id: c, type: EXTERNAL_TASK, dependsOn: [a, b], config: { taskType: c } }
";
    client.deploy("three", source).await?;
    let id = client.start("three", json!({})).await?;
    let held = client.poll("a", "w").await?;
    let cancel = format!("/api/v1/instances/{id}/cancel");
    for _ in 0..2 {
        client.post(&cancel, &json!({ "reason": "changed our mind" })).await?.expect(204)?;
    }
    let instance = client.instance(&id).await?;
    assert_eq!(instance["status"], "cancelled");
    assert_eq!(instance["error"]["message"], "changed our mind");
    let tasks = client.get(&format!("/api/v1/tasks?instance={id}")).await?.expect(200)?;
    let states: BTreeSet<_> =
        tasks["items"].as_array().into_iter().flatten().filter_map(|task| task["status"].as_str()).collect();
    assert_eq!(states, BTreeSet::from(["CANCELLED"]), "{tasks}");
    assert!(client.poll_with("taskType=b&waitSeconds=0").await?.is_empty());
    let beat = client.report(&held, "heartbeat", &json!({})).await?.expect(200)?;
    assert_eq!(beat["status"], "stop");
    client.report(&held, "complete", &json!({})).await?.expect_problem(409, "task_cancelled")?;

    client
        .deploy("empty-handed", "steps:\n  - { id: a, type: EXTERNAL_TASK, config: { taskType: a } }\n")
        .await?;
    let done = client.start("empty-handed", json!({})).await?;
    client.work("a", &json!({})).await?;
    client.instance_is(&done, "completed").await?;
    let late = client.post(&format!("/api/v1/instances/{done}/cancel"), &json!({})).await?;
    late.expect_problem(409, "instance_ended")?;
    host.stop().await;
    Ok(())
}

/// The timeline tells the story, page by page.
async fn the_timeline_has_every_decision(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", stepwell_tests::host::one_task("t", &[])).await?;
    let id = client.start("one", json!({})).await?;
    client.work("t", &json!({ "n": 1 })).await?;
    client.instance_is(&id, "completed").await?;
    let path = format!("/api/v1/instances/{id}/timeline");
    let whole = client.get(&path).await?.expect(200)?;
    let lines = whole["items"].as_array().cloned().unwrap_or_default();
    let kinds: Vec<_> = lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    assert!(kinds.contains(&"start") && kinds.contains(&"event"), "{kinds:?}");

    let mut paged: Vec<Value> = Vec::new();
    let mut next = String::new();
    loop {
        let page = client.get(&format!("{path}?limit=1&details=true{next}")).await?.expect(200)?;
        paged.extend(page["items"].as_array().cloned().unwrap_or_default());
        match page["next"].as_str() {
            Some(cursor) => next = format!("&after={cursor}"),
            None => break,
        }
    }
    let ids = |lines: &[Value]| lines.iter().map(|line| line["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&paged), ids(&lines));
    assert!(paged.iter().any(|line| line["answer"].is_object()), "details are there when asked for");
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    steps_follow_each_other,
    branches_join,
    a_wide_join_happens_once,
    errors_lead_where_they_are_told,
    cancelling_closes_everything,
    the_timeline_has_every_decision,
);
