//! Dead letters: shown, offered again with the instance that failed with them, or discarded.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, one_task, step};

async fn fail_for_good(client: &Client, task_type: &str) -> Result<Value> {
    let task = client.poll(task_type, "w").await?;
    let body = json!({ "message": "hopeless", "code": "BAD", "noRetry": true });
    client.report(&task, "fail", &body).await?.expect(200)
}

fn letter(task: &Value, verb: &str) -> String {
    format!("/api/v1/dead-letters/{}{verb}", task["id"].as_str().unwrap_or_default())
}

async fn kinds(client: &Client, instance: &str) -> Result<Vec<String>> {
    let lines = client.get(&format!("/api/v1/instances/{instance}/timeline")).await?.expect(200)?;
    let lines = lines["items"].as_array().context("lines")?;
    Ok(lines.iter().filter_map(|line| line["kind"].as_str()).map(ToOwned::to_owned).collect())
}

/// The instance that failed goes on, and completes.
async fn a_dead_letter_is_offered_again(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let two = "steps:\n  - {id: a, type: EXTERNAL_TASK, config: {taskType: a, retries: 2, timeout: 1h}}\n  \
               - {id: b, type: EXTERNAL_TASK, config: {taskType: b}}\n";
    client.deploy("two", two).await?;
    let id = client.start("two", json!({})).await?;
    let dead = fail_for_good(client, "a").await?;
    client.instance_is(&id, "failed").await?;
    let shown = client.get(&letter(&dead, "")).await?.expect(200)?;
    assert_eq!((&shown["errorMessage"], &shown["lockToken"]), (&json!("hopeless"), &Value::Null));

    client
        .post(&letter(&dead, "/retry"), &json!({ "attempts": 0 }))
        .await?
        .expect_problem(400, "invalid_request")?;
    let offered = client.post(&letter(&dead, "/retry"), &json!({ "attempts": 4 })).await?.expect(200)?;
    assert_eq!(
        (&offered["status"], &offered["retryCount"], &offered["maxRetries"]),
        (&json!("PENDING"), &json!(0), &json!(4))
    );
    client.get(&letter(&dead, "")).await?.expect_problem(404, "dead_letter_not_found")?;
    client.post(&letter(&dead, "/retry"), &json!({})).await?.expect_problem(409, "not_a_dead_letter")?;
    let instance = client.instance_is(&id, "waiting").await?;
    assert_eq!((&instance["error"], &instance["endedAt"]), (&Value::Null, &Value::Null));

    let task = client.poll("a", "w").await?;
    assert_eq!((&task["id"], &task["errorMessage"]), (&dead["id"], &json!("hopeless")));
    client.complete(&task, &json!({ "n": 1 })).await?;
    client.work("b", &json!({})).await?;
    let instance = client.instance_is(&id, "completed").await?;
    assert_eq!(step(&instance, "a")["output"], json!({ "n": 1 }));
    let kinds = kinds(client, &id).await?;
    for kind in ["dead-letter-retried", "instance-failed", "instance-revived", "instance-completed"] {
        assert!(kinds.iter().any(|line| line == kind), "{kind} in {kinds:?}");
    }
    host.stop().await;
    Ok(())
}

/// It can fail for good, and be retried, more than once; also after a restart of the host.
async fn a_dead_letter_can_die_again(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    host.client.deploy("one", one_task("t", &["retries: 1"])).await?;
    let id = host.client.start("one", json!({})).await?;
    for _ in 0..2 {
        let dead = fail_for_good(&host.client, "t").await?;
        host.client.instance_is(&id, "failed").await?;
        host.client.post(&letter(&dead, "/retry"), &json!({})).await?.expect(200)?;
    }
    host.stop().await;
    let host = Host::start(&db).await?;
    host.client.work("t", &json!({})).await?;
    host.client.instance_is(&id, "completed").await?;
    host.stop().await;
    Ok(())
}

/// A branch that the failure cancelled begins again, and the join behind both waits for both.
async fn cancelled_branches_begin_again(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let fork = "steps:\n  - {id: a, type: EXTERNAL_TASK, dependsOn: [], config: {taskType: a}}\n  \
                - {id: b, type: EXTERNAL_TASK, dependsOn: [], config: {taskType: b}}\n  \
                - {id: c, type: EXTERNAL_TASK, dependsOn: [], config: {taskType: c}}\n  \
                - {id: z, type: EXTERNAL_TASK, dependsOn: [a, b, c], config: {taskType: z}}\n";
    client.deploy("fork", fork).await?;
    let id = client.start("fork", json!({})).await?;
    client.work("c", &json!({})).await?;
    let held = client.poll("b", "w").await?;
    let dead = fail_for_good(client, "a").await?;
    client.instance_is(&id, "failed").await?;
    let stop = client.report(&held, "heartbeat", &json!({})).await?.expect(200)?;
    assert_eq!(stop["status"], "stop");

    client.post(&letter(&dead, "/retry"), &json!({})).await?.expect(200)?;
    let again = client.poll("b", "w").await?;
    assert_ne!(again["id"], held["id"], "a new attempt has a new task");
    client.complete(&again, &json!({})).await?;
    assert!(client.poll_with("taskType=z&waitSeconds=0").await?.is_empty(), "the join waits");
    client.work("a", &json!({})).await?;
    client.work("z", &json!({})).await?;
    client.instance_is(&id, "completed").await?;
    host.stop().await;
    Ok(())
}

/// What `onError` took cannot be undone.
async fn a_settled_failure_stays(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let handled = "steps:\n  - {id: a, type: EXTERNAL_TASK, config: {taskType: a}, onError: {BAD: rescue}}\n  \
                   - {id: rescue, type: EXTERNAL_TASK, config: {taskType: rescue}}\n";
    client.deploy("handled", handled).await?;
    let id = client.start("handled", json!({})).await?;
    let dead = fail_for_good(client, "a").await?;
    client.post(&letter(&dead, "/retry"), &json!({})).await?.expect_problem(409, "dead_letter_settled")?;
    client.work("rescue", &json!({})).await?;
    client.instance_is(&id, "completed").await?;
    client.post(&letter(&dead, "/retry"), &json!({})).await?.expect_problem(409, "dead_letter_settled")?;
    host.stop().await;
    Ok(())
}

/// A discarded letter leaves the list and cannot come back; its instance stays failed.
async fn a_dead_letter_is_discarded(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    let id = client.start("one", json!({})).await?;
    let dead = fail_for_good(client, "t").await?;
    let other = client.tenant("other");
    other.post(&letter(&dead, "/discard"), &json!({})).await?.expect_problem(404, "task_not_found")?;
    other.post(&letter(&dead, "/retry"), &json!({})).await?.expect_problem(404, "task_not_found")?;
    let gone =
        client.post(&letter(&dead, "/discard"), &json!({ "reason": "done by hand" })).await?.expect(200)?;
    assert_eq!((&gone["status"], &gone["errorMessage"]), (&json!("CANCELLED"), &json!("hopeless")));
    client.post(&letter(&dead, "/discard"), &json!({})).await?.expect(200)?;
    client.post(&letter(&dead, "/retry"), &json!({})).await?.expect_problem(409, "not_a_dead_letter")?;
    let list = client.get("/api/v1/dead-letters").await?.expect(200)?;
    assert_eq!(list["items"], json!([]));
    client.instance_is(&id, "failed").await?;
    assert!(kinds(client, &id).await?.iter().any(|kind| kind == "dead-letter-discarded"));
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_dead_letter_is_offered_again,
    a_dead_letter_can_die_again,
    cancelled_branches_begin_again,
    a_settled_failure_stays,
    a_dead_letter_is_discarded,
);
