//! An external task as its workers see it.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task, step};

const JIRA: &str = include_str!("../../../examples/jira/workflow.yaml");
const JIRA_CONTEXT: &str = include_str!("../../../examples/jira/context.json");

/// The seed's workflow: poll, lock, complete, mapped output in the context.
async fn a_worker_completes_the_jira_workflow(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("jira", JIRA).await?;
    let id = client.start("jira", serde_json::from_str(JIRA_CONTEXT)?).await?;

    let task = client.poll("n8n-jira-create-ticket", "n8n-1").await?;
    assert_eq!(task["workflowInstanceId"], id.as_str());
    assert_eq!(task["stepId"], "create-jira-ticket-via-n8n");
    assert_eq!(task["workflowKey"], "jira");
    assert_eq!(task["status"], "LOCKED");
    assert_eq!(task["workerId"], "n8n-1");
    assert_eq!(task["input"]["projectKey"], "PROJ");
    assert_eq!(task["input"]["priority"], "HIGH");
    assert_eq!((&task["retryCount"], &task["maxRetries"]), (&json!(0), &json!(3)));
    assert_eq!(task["lockDurationSeconds"], 300.0);
    assert_eq!(task["heartbeatIntervalSeconds"], 60.0);
    for field in ["lockToken", "lockExpiresAt", "lockedAt", "timeoutAt", "lastHeartbeatAt", "createdAt"] {
        assert!(task[field].is_string(), "{field} in {task}");
    }
    assert_eq!(client.instance(&id).await?["status"], "waiting");
    let shown = client.task(&task["id"]).await?;
    assert_eq!(shown["status"], "LOCKED");
    assert!(shown["lockToken"].is_null(), "a lock token is its worker's own");

    let output = json!({ "result": { "ticketId": "PROJ-7", "url": "https://jira.example/PROJ-7" } });
    let done = client.complete(&task, &output).await?;
    assert_eq!(done["status"], "COMPLETED");
    let instance = client.instance_is(&id, "completed").await?;
    assert_eq!(instance["context"]["jiraTicketId"], "PROJ-7");
    assert_eq!(instance["context"]["projectKey"], "PROJ", "what was there stays");
    let mapped = &step(&instance, "create-jira-ticket-via-n8n")["output"];
    assert_eq!(mapped["jiraTicketUrl"], "https://jira.example/PROJ-7");
    host.stop().await;
    Ok(())
}

/// A repeat after a lost answer gives the same answer; a stale holder gets nowhere.
async fn reports_are_idempotent_and_fenced(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    let id = client.start("one", json!({})).await?;
    let task = client.poll("t", "me").await?;
    let path =
        |verb: &str| format!("/api/n8n/external-tasks/{}/{verb}", task["id"].as_str().unwrap_or_default());

    let forged = client.with("x-lock-token", "00000000-0000-4000-8000-000000000000");
    forged.post(&path("complete"), &json!({})).await?.expect_problem(409, "lock_lost")?;
    let other = client.with("x-worker-id", "somebody-else");
    other.post(&path("complete"), &json!({})).await?.expect_problem(409, "lock_lost")?;
    other.post(&path("fail"), &json!({ "message": "no" })).await?.expect_problem(409, "lock_lost")?;
    let lost = other.post(&path("heartbeat"), &json!({})).await?.expect(200)?;
    assert_eq!(lost["status"], "lost");
    assert_eq!(client.task(&task["id"]).await?["status"], "LOCKED", "nothing of it counted");

    let first = client.complete(&task, &json!({ "n": 1 })).await?;
    let again = client.complete(&task, &json!({ "n": 2 })).await?;
    assert_eq!(first["output"], json!({ "n": 1 }));
    assert_eq!(again, first, "the repeat changes nothing");
    other.post(&path("complete"), &json!({})).await?.expect_problem(409, "task_ended")?;
    let stop = client.report(&task, "heartbeat", &json!({})).await?.expect(200)?;
    assert_eq!(stop["status"], "stop");
    let instance = client.instance_is(&id, "completed").await?;
    assert_eq!(step(&instance, "work")["output"], json!({ "n": 1 }));
    host.stop().await;
    Ok(())
}

/// A worker that gives neither token nor name is trusted, as the seed's is; an empty body is an empty output.
async fn a_plain_worker_needs_no_token(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    let id = client.start("one", json!({})).await?;
    let tasks = client.poll_with("taskType=t").await?;
    let task = tasks.first().context("a task")?;
    let path = format!("/api/n8n/external-tasks/{}/complete", task["id"].as_str().unwrap_or_default());
    client.send("POST", &path, "").await?.expect(200)?;
    client.instance_is(&id, "completed").await?;
    host.stop().await;
    Ok(())
}

/// Attempts are spent one by one; a repeated report spends nothing; the last makes a dead letter.
async fn failed_attempts_end_in_a_dead_letter(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["retries: 2"])).await?;
    let id = client.start("one", json!({})).await?;

    let task = client.poll("t", "me").await?;
    let report = json!({ "message": "no luck", "stackTrace": "at line 1", "retryDelaySeconds": 0.2 });
    let failed = client.report(&task, "fail", &report).await?.expect(200)?;
    assert_eq!((&failed["status"], &failed["retryCount"]), (&json!("PENDING"), &json!(1)));
    let again = client.report(&task, "fail", &report).await?.expect(200)?;
    assert_eq!(again["retryCount"], 1, "the repeat spends nothing");

    // Parked until the wait is over: nobody but the clock wakes it.
    let task = client.poll("t", "me").await?;
    assert_eq!((&task["retryCount"], &task["errorMessage"]), (&json!(1), &json!("no luck")));
    let last = json!({ "errorMessage": "still none", "errorCode": "BAD_LUCK" });
    let failed = client.report(&task, "fail", &last).await?.expect(200)?;
    assert_eq!((&failed["status"], &failed["retryCount"]), (&json!("FAILED"), &json!(2)));

    let instance = client.instance_is(&id, "failed").await?;
    assert_eq!(instance["error"]["code"], "BAD_LUCK");
    let letters = client.get("/api/v1/dead-letters").await?.expect(200)?;
    assert_eq!(letters["items"][0]["id"], task["id"]);
    assert_eq!(letters["items"][0]["errorMessage"], "still none");
    assert_eq!(letters["items"].as_array().map(Vec::len), Some(1));
    host.stop().await;
    Ok(())
}

/// A worker that knows better can rule out more attempts.
async fn no_retry_ends_at_once(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["retries: 5"])).await?;
    let id = client.start("one", json!({})).await?;
    let task = client.poll("t", "me").await?;
    let failed = client
        .report(&task, "fail", &json!({ "message": "hopeless", "noRetry": true }))
        .await?
        .expect(200)?;
    assert_eq!(failed["status"], "FAILED");
    let instance = client.instance_is(&id, "failed").await?;
    assert_eq!(instance["error"]["message"], "hopeless");
    host.stop().await;
    Ok(())
}

/// Tasks come by priority, then age; each to one poll only.
async fn tasks_come_by_priority(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    for priority in [5, 1, 9] {
        let key = format!("p{priority}");
        client.deploy(&key, one_task("t", &[&format!("priority: {priority}")])).await?;
        client.start(&key, json!({})).await?;
    }
    let tasks = client.poll_with("taskType=t&taskType=other&maxTasks=10").await?;
    let priorities: Vec<_> = tasks.iter().map(|task| task["priority"].clone()).collect();
    assert_eq!(priorities, [1, 5, 9]);
    let locked = client.get("/api/v1/tasks?status=LOCKED&taskType=t").await?.expect(200)?;
    assert_eq!(locked["items"].as_array().map(Vec::len), Some(3));
    assert!(client.poll_with("taskType=t&waitSeconds=0").await?.is_empty(), "all are taken");
    host.stop().await;
    Ok(())
}

/// The same poll again, after a lost answer, gets the same tasks.
async fn a_named_poll_can_be_repeated(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    for _ in 0..2 {
        client.start("one", json!({})).await?;
    }
    let first = client.poll_with("taskType=t&workerId=me&requestId=r1").await?;
    let again = client.poll_with("taskType=t&workerId=me&requestId=r1").await?;
    let other = client.poll_with("taskType=t&workerId=me&requestId=r2").await?;
    assert_eq!(first.len(), 1);
    assert_eq!(first, again);
    assert_ne!(first[0]["id"], other[0]["id"]);
    host.stop().await;
    Ok(())
}

/// Whoever starts twice with one key starts once.
async fn a_start_can_be_repeated(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    host.client.deploy("one", one_task("t", &[])).await?;
    let client = host.client.with("idempotency-key", "order-7");
    let body = json!({ "context": { "n": 1 }, "businessKey": "order 7" });
    let first = client.post("/api/v1/workflows/one/instances", &body).await?.expect(201)?;
    let again = client.post("/api/v1/workflows/one/instances", &body).await?.expect(200)?;
    assert_eq!(first["id"], again["id"]);
    assert_eq!((&first["created"], &again["created"]), (&json!(true), &json!(false)));
    let found = client.get("/api/v1/instances?businessKey=order%207&workflow=one").await?.expect(200)?;
    assert_eq!(found["items"].as_array().map(Vec::len), Some(1));
    let task = client.poll("t", "me").await?;
    assert_eq!(task["businessKey"], "order 7");
    assert!(client.poll_with("taskType=t&waitSeconds=0").await?.is_empty(), "one instance, one task");
    host.stop().await;
    Ok(())
}

/// The caller's trace reaches the worker.
async fn a_trace_is_handed_on(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    host.client.deploy("one", one_task("t", &[])).await?;
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let traced = host.client.with("traceparent", &format!("00-{trace}-b7ad6b7169203331-01"));
    traced.start("one", json!({})).await?;
    let task = host.client.poll("t", "me").await?;
    let handed: &Value = &task["traceparent"];
    assert!(handed.as_str().is_some_and(|text| text.contains(trace)), "{handed}");
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_worker_completes_the_jira_workflow,
    reports_are_idempotent_and_fenced,
    a_plain_worker_needs_no_token,
    failed_attempts_end_in_a_dead_letter,
    no_retry_ends_at_once,
    tasks_come_by_priority,
    a_named_poll_can_be_repeated,
    a_start_can_be_repeated,
    a_trace_is_handed_on,
);
