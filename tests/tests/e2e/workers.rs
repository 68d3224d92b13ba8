//! Workers: known by name, let go with a goodbye, told of cancellations; and why a task is not handed out.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, one_task, until};

async fn worker(client: &Client, name: &str) -> Result<Value> {
    client.get(&format!("/api/v1/workers/{name}")).await?.expect(200)
}

async fn why(client: &Client, task: &Value) -> Result<Value> {
    client.get(&format!("/api/v1/tasks/{}/why", task["id"].as_str().context("an id")?)).await?.expect(200)
}

/// What a worker polls for, does and fails at is counted, over both of the hosts that it talks to.
async fn workers_are_known_by_what_they_do(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("n8n-a", &[])).await?;
    for _ in 0..2 {
        client.start("one", json!({})).await?;
    }
    let query = "taskType=n8n-*,other&workerId=w1&workerType=n8n&waitSeconds=30";
    let done = client.poll_with(query).await?.pop().context("a task")?;
    client.complete(&done, &json!({})).await?;
    client.complete(&done, &json!({})).await?;
    let failed = client.poll_with(query).await?.pop().context("a task")?;
    client.report(&failed, "heartbeat", &json!({})).await?.expect(200)?;
    client.report(&failed, "fail", &json!({ "message": "no", "noRetry": true })).await?.expect(200)?;

    let shown = worker(client, "w1").await?;
    assert_eq!((&shown["workerType"], &shown["status"]), (&json!("n8n"), &json!("ACTIVE")));
    assert_eq!(shown["taskTypes"], json!(["n8n-*", "other"]));
    let counts = [&shown["polls"], &shown["tasksCompleted"], &shown["tasksFailed"]];
    assert_eq!(counts, [&json!(2), &json!(1), &json!(1)], "a repeat counts for nothing: {shown}");
    for field in ["lastPollAt", "lastHeartbeatAt", "lastSeenAt"] {
        assert!(shown[field].is_string(), "{field} in {shown}");
    }
    client.get("/api/v1/workers/nobody").await?.expect_problem(404, "worker_not_found")?;
    assert_eq!(client.tenant("other").get("/api/v1/workers").await?.expect(200)?["items"], json!([]));
    host.stop().await;

    // What was gathered is in the database, and goes on there.
    let host = Host::start(&db).await?;
    let client = &host.client;
    assert!(client.poll_with("taskType=other&workerId=w1&waitSeconds=0").await?.is_empty());
    assert!(client.poll_with("taskType=other&workerId=w2&waitSeconds=0").await?.is_empty());
    let shown = worker(client, "w1").await?;
    assert_eq!(
        (&shown["polls"], &shown["tasksCompleted"], &shown["workerType"]),
        (&json!(3), &json!(1), &json!("n8n"))
    );
    let first = client.get("/api/v1/workers?limit=1").await?.expect(200)?;
    assert_eq!(
        (&first["items"][0]["workerId"], &first["items"][0]["status"]),
        (&json!("w2"), &json!("IDLE"))
    );
    let next = first["next"].as_str().context("a second page")?;
    let second = client.get(&format!("/api/v1/workers?limit=1&after={next}")).await?.expect(200)?;
    assert_eq!(second["items"][0]["workerId"], "w1");
    until("the metrics have workers and polls", async || {
        let metrics = client.get("/metrics").await?.expect(200)?;
        let metrics = metrics.as_str().context("text")?;
        Ok(metrics.contains("stepwell_polls_total") && metrics.contains("stepwell_workers{"))
    })
    .await?;
    host.stop().await;
    Ok(())
}

/// A worker that says goodbye: its tasks are free at once, its parked poll is answered, others are left alone.
async fn a_goodbye_frees_the_tasks(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["lockDuration: 1h", "maxLockExpiries: 1"])).await?;
    for _ in 0..3 {
        client.start("one", json!({})).await?;
    }
    let mut held = client.poll_with("taskType=t&workerId=leaves&maxTasks=2&waitSeconds=30").await?;
    let kept = client.poll("t", "stays").await?;
    let park = |worker: &'static str| {
        let client = client.clone();
        tokio::spawn(async move {
            client.poll_with(&format!("taskType=t2&workerId={worker}&waitSeconds=100")).await
        })
    };
    let (leaving, staying) = (park("leaves"), park("stays"));
    host.parked_polls(2).await?;
    let path = "/api/v1/workers/leaves/goodbye";
    let answer = client.post(path, &json!({})).await?.expect(200)?;
    assert_eq!(answer["tasksReleased"], 2);
    assert!(leaving.await??.is_empty());
    host.parked_polls(1).await?;
    assert_eq!(worker(client, "leaves").await?["status"], "DEAD");
    assert_eq!(worker(client, "stays").await?["status"], "ACTIVE");
    let lost = client.report(&held.remove(0), "heartbeat", &json!({})).await?.expect(200)?;
    assert_eq!(lost["status"], "lost");
    for _ in 0..2 {
        let task = client.poll("t", "next").await?;
        assert_eq!((&task["lockExpiries"], &task["retryCount"]), (&json!(0), &json!(0)));
        client.complete(&task, &json!({})).await?;
    }
    client.complete(&kept, &json!({})).await?;
    assert_eq!(client.post(path, &json!({})).await?.expect(200)?["tasksReleased"], 0);
    // It may come back.
    client.poll_with("taskType=t&workerId=leaves&waitSeconds=0").await?;
    assert_ne!(worker(client, "leaves").await?["status"], "DEAD");
    staying.abort();
    host.stop().await;
    Ok(())
}

/// A worker that waits hears of each cancellation once; others hear of none.
async fn a_worker_hears_of_cancellations(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    let mut held = Vec::new();
    for _ in 0..2 {
        let id = client.start("one", json!({})).await?;
        held.push((id, client.poll("t", "w").await?));
    }
    let path = "/api/v1/workers/w/cancellations";
    let nothing = client.get(path).await?.expect(200)?;
    assert_eq!(nothing["items"], json!([]));
    let mut after = nothing["next"].as_str().context("a cursor")?.to_owned();
    for (instance, task) in &held {
        let (waiting, url) = (client.clone(), format!("{path}?waitSeconds=100&after={after}"));
        let waiting = tokio::spawn(async move { waiting.get(&url).await });
        client.post(&format!("/api/v1/instances/{instance}/cancel"), &json!({})).await?.expect(204)?;
        let told = waiting.await??.expect(200)?;
        assert_eq!(told["items"].as_array().map(Vec::len), Some(1), "each once: {told}");
        assert_eq!(told["items"][0]["id"], task["id"]);
        assert_eq!(told["items"][0]["workflowInstanceId"], instance.as_str());
        told["next"].as_str().context("a cursor")?.clone_into(&mut after);
        let stop = client.report(task, "heartbeat", &json!({})).await?.expect(200)?;
        assert_eq!(stop["status"], "stop");
    }
    let rest = client.get(&format!("{path}?after={after}")).await?.expect(200)?;
    assert_eq!(rest["items"], json!([]));
    // From the beginning again: both, in order.
    let all = client.get(path).await?.expect(200)?;
    assert_eq!(all["items"].as_array().map(Vec::len), Some(2));
    let other = client.get("/api/v1/workers/other/cancellations").await?.expect(200)?;
    assert_eq!(other["items"], json!([]));
    client.get(&format!("{path}?after=soon")).await?.expect_problem(400, "invalid_request")?;
    client.get(&format!("{path}?waitSeconds=5000")).await?.expect_problem(400, "invalid_request")?;

    // A host that stops answers those who wait.
    let (waiting, url) = (client.clone(), format!("{path}?waitSeconds=100&after={after}"));
    let waiting = tokio::spawn(async move { waiting.get(&url).await });
    client.get("/healthz").await?.expect(200)?;
    host.stop().await;
    // It was answered, or came too late to be taken.
    if let Ok(answer) = waiting.await? {
        assert_eq!(answer.expect(200)?["items"], json!([]));
    }
    Ok(())
}

/// A sentence for every state that a task can be in.
async fn a_task_says_why(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["lockDuration: 1h"])).await?;
    let mut tasks = Vec::new();
    for n in 1..=3 {
        let id = client.start("one", json!({})).await?;
        let page = client.get(&format!("/api/v1/tasks?instance={id}")).await?.expect(200)?;
        tasks.push(page["items"][0].clone());
        assert_eq!(why(client, &tasks[n - 1]).await?["code"], "no_worker");
    }
    let first = client.poll("t", "w").await?;
    let locked = why(client, &first).await?;
    assert_eq!((&locked["code"], &locked["workerId"]), (&json!("locked"), &json!("w")));
    assert_eq!(locked["until"], first["lockExpiresAt"]);
    let second = tasks.iter().find(|task| task["id"] != first["id"]).context("a second task")?;
    let third = tasks.iter().rfind(|task| task["id"] != first["id"]).context("a third task")?;
    let (next, behind) = (why(client, second).await?, why(client, third).await?);
    let ahead = [next["ahead"].as_u64(), behind["ahead"].as_u64()];
    assert!(ahead.contains(&Some(0)) && ahead.contains(&Some(1)), "{ahead:?}");
    assert_eq!(next["workers"], json!(["w"]));
    let codes = [&next["code"], &behind["code"]];
    assert!(codes.contains(&&json!("offered")) && codes.contains(&&json!("behind_others")), "{codes:?}");

    client
        .report(&first, "fail", &json!({ "message": "no", "retryDelaySeconds": 3600 }))
        .await?
        .expect(200)?;
    let waits = why(client, &first).await?;
    assert_eq!(waits["code"], "waits_for_retry");
    assert!(waits["until"].is_string());
    let second = client.poll("t", "w").await?;
    client.report(&second, "fail", &json!({ "message": "no", "noRetry": true })).await?.expect(200)?;
    assert_eq!(why(client, &second).await?["code"], "dead_letter");
    let third = client.poll("t", "w").await?;
    client.complete(&third, &json!({})).await?;
    assert_eq!(why(client, &third).await?["code"], "completed");
    let instance = first["workflowInstanceId"].as_str().context("an id")?;
    client.post(&format!("/api/v1/instances/{instance}/cancel"), &json!({})).await?.expect(204)?;
    assert_eq!(why(client, &first).await?["code"], "cancelled");
    let nobody = "/api/v1/tasks/00000000-0000-4000-8000-000000000000/why";
    client.get(nobody).await?.expect_problem(404, "task_not_found")?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    workers_are_known_by_what_they_do,
    a_goodbye_frees_the_tasks,
    a_worker_hears_of_cancellations,
    a_task_says_why,
);
