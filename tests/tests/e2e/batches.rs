//! Reports in batches, tasks given back, and waits between attempts.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, one_task};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

async fn take(client: &Client, count: usize) -> Result<Vec<Value>> {
    let mut tasks = Vec::new();
    while tasks.len() < count {
        let more = count - tasks.len();
        tasks.extend(
            client.poll_with(&format!("taskType=t&workerId=w&maxTasks={more}&waitSeconds=30")).await?,
        );
    }
    Ok(tasks)
}

/// Each report of a batch has its own result; a repeat of the batch changes nothing.
async fn each_report_has_its_own_result(db: TestDb) -> Result<()> {
    const TASKS: usize = 20;
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    let mut instances = Vec::new();
    for _ in 0..TASKS {
        instances.push(client.start("one", json!({})).await?);
    }
    let tasks = take(client, TASKS).await?;
    let mut reports: Vec<Value> = tasks
        .iter()
        .zip(0..)
        .map(|(task, n): (_, usize)| json!({ "id": task["id"], "lockToken": task["lockToken"], "output": { "n": n } }))
        .collect();
    reports.push(json!({ "id": NOBODY, "output": {} }));
    reports[0] = json!({ "id": tasks[0]["id"], "workerId": "somebody-else" });
    let path = "/api/n8n/external-tasks/complete";
    let answer = client.post(path, &json!({ "tasks": reports })).await?.expect(200)?;
    let results = answer["results"].as_array().context("results")?;
    assert_eq!((results.len(), &answer["refused"]), (TASKS + 1, &json!(2)));
    assert_eq!((&results[0]["status"], &results[0]["problem"]["code"]), (&json!(409), &json!("lock_lost")));
    assert_eq!(results[TASKS]["problem"]["code"], "task_not_found");
    for (n, result) in results.iter().enumerate().take(TASKS).skip(1) {
        assert_eq!((&result["status"], &result["id"]), (&json!(200), &tasks[n]["id"]), "{result}");
        assert_eq!(
            (&result["task"]["status"], &result["task"]["output"]["n"]),
            (&json!("COMPLETED"), &json!(n))
        );
    }
    let again = client.post(path, &json!({ "tasks": reports })).await?.expect(200)?;
    assert_eq!(again, answer, "the repeat gives the same answer");
    let late = json!({ "tasks": [{ "id": tasks[0]["id"], "workerId": "w" }] });
    assert_eq!(client.post(path, &late).await?.expect(200)?["refused"], 0);
    for id in &instances {
        client.instance_is(id, "completed").await?;
    }
    client.post(path, &json!({ "tasks": [] })).await?.expect_problem(400, "invalid_request")?;
    client.post(path, &json!({ "tasks": [{ "id": "x" }] })).await?.expect_problem(400, "invalid_request")?;
    host.stop().await;
    Ok(())
}

/// Failures in a batch: one is retried, one is hopeless, one makes no sense.
async fn failures_come_in_batches_too(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["retries: 3"])).await?;
    for _ in 0..3 {
        client.start("one", json!({})).await?;
    }
    let tasks = take(client, 3).await?;
    let id = |n: usize| tasks[n]["id"].clone();
    let batch = json!({ "tasks": [
        { "id": id(0), "message": "later", "retryDelaySeconds": 3600, "stackTrace": "at line 7" },
        { "id": id(1), "message": "hopeless", "noRetry": true },
        { "id": id(2), "message": "no", "retryDelaySeconds": -1 },
    ] });
    let answer = client.post("/api/n8n/external-tasks/fail", &batch).await?.expect(200)?;
    let results = answer["results"].as_array().context("results")?;
    assert_eq!(results[0]["task"]["status"], "PENDING");
    assert_eq!(results[0]["task"]["errorDetails"], "at line 7");
    assert_eq!(results[1]["task"]["status"], "FAILED");
    assert_eq!(results[2]["problem"]["code"], "invalid_request");
    assert_eq!(client.task(&id(2)).await?["status"], "LOCKED");
    host.stop().await;
    Ok(())
}

/// A task that is given back is offered at once, and nothing was spent; again changes nothing.
async fn a_task_can_be_given_back(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["retries: 1", "maxLockExpiries: 1"])).await?;
    client.start("one", json!({})).await?;
    let first = client.poll("t", "a").await?;
    let path = format!("/api/n8n/external-tasks/{}/unlock", first["id"].as_str().unwrap_or_default());
    client.with("x-worker-id", "b").post(&path, &json!({})).await?.expect_problem(409, "lock_lost")?;
    let free = client.report(&first, "unlock", &json!({})).await?.expect(200)?;
    assert_eq!((&free["status"], &free["workerId"]), (&json!("PENDING"), &Value::Null));
    client.report(&first, "unlock", &json!({})).await?.expect(200)?;
    let second = client.poll("t", "b").await?;
    assert_eq!(
        (&second["id"], &second["retryCount"], &second["lockExpiries"]),
        (&first["id"], &json!(0), &json!(0))
    );
    client.report(&first, "complete", &json!({})).await?.expect_problem(409, "lock_lost")?;
    client.complete(&second, &json!({})).await?;
    client.report(&second, "unlock", &json!({})).await?.expect_problem(409, "task_ended")?;
    host.stop().await;
    Ok(())
}

/// The workflow declares the waits: they grow by its factor up to its cap, less a random part.
async fn waits_between_attempts_are_declared(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let backoff = "retryBackoff: { initial: 1h, factor: 3, max: 2h, jitter: 50 }";
    client.deploy("one", one_task("t", &["retries: 5", backoff])).await?;
    client.start("one", json!({})).await?;
    let task = client.poll("t", "w").await?;
    let failed = client.report(&task, "fail", &json!({ "message": "no" })).await?.expect(200)?;
    let time = |field: &str| -> Result<chrono::DateTime<chrono::Utc>> {
        Ok(failed[field].as_str().context("a time")?.parse()?)
    };
    let wait = (time("availableAt")? - time("updatedAt")?).num_minutes();
    assert!((29..=60).contains(&wait), "{wait} min");
    assert!(client.poll_with("taskType=t&waitSeconds=0").await?.is_empty(), "it waits");
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    each_report_has_its_own_result,
    failures_come_in_batches_too,
    a_task_can_be_given_back,
    waits_between_attempts_are_declared,
);
