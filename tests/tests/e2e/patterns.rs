//! Polls for a pattern of task types, and polls that ask for too much.

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task};

/// A pattern gets what is there, whatever its type, by priority; names and patterns go together.
async fn a_pattern_gets_what_matches(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    for (key, task_type, priority) in [
        ("a", "n8n-jira-create", 5),
        ("b", "n8n-jira-close", 1),
        ("c", "n8n-slack-send", 5),
        ("d", "other", 9),
    ] {
        client.deploy(key, one_task(task_type, &[&format!("priority: {priority}")])).await?;
        client.start(key, json!({})).await?;
    }
    let tasks = client.poll_with("taskType=n8n-jira-*,other&maxTasks=10&waitSeconds=0").await?;
    let types: Vec<_> = tasks.iter().map(|task| task["taskType"].as_str().unwrap_or_default()).collect();
    assert_eq!(types, ["n8n-jira-close", "n8n-jira-create", "other"]);
    assert!(client.poll_with("taskType=n8n-jira-*&waitSeconds=0").await?.is_empty(), "all are taken");
    let rest = client.poll_with("taskType=*-slack-*&waitSeconds=0").await?;
    assert_eq!(rest.len(), 1);
    assert!(client.tenant("other").poll_with("taskType=*&waitSeconds=0").await?.is_empty());
    host.stop().await;
    Ok(())
}

/// A poll that waits for a pattern is woken by a type that nobody has seen before.
async fn a_new_type_wakes_a_parked_pattern(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = host.client.clone();
    let parked =
        tokio::spawn(async move { client.poll_with("taskType=n8n-jira-*&workerId=w&waitSeconds=100").await });
    host.parked_polls(1).await?;
    let client = &host.client;
    client.deploy("no", one_task("n8n-slack", &[])).await?;
    client.start("no", json!({})).await?;
    client.deploy("yes", one_task("n8n-jira-new", &[])).await?;
    let id = client.start("yes", json!({})).await?;
    let tasks = parked.await??;
    let task = tasks.first().context("a task")?;
    assert_eq!((&task["taskType"], &task["workflowInstanceId"]), (&json!("n8n-jira-new"), &json!(id)));
    host.parked_polls(0).await?;
    host.stop().await;
    Ok(())
}

/// More than the limits allow is refused, and the answer names the limit.
async fn too_much_is_refused_by_name(db: TestDb) -> Result<()> {
    let host = Host::start_with(&db, |settings| {
        settings.limits.poll_tasks_max = 7;
        settings.limits.poll_wait_seconds_max = 20;
        settings.limits.batch_reports_max = 2;
    })
    .await?;
    let client = &host.client;
    let types = (0..10_000).map(|n| format!("t{n}")).collect::<Vec<_>>().join(",");
    let long = "x".repeat(600);
    let polls = [
        ("taskType=t&maxTasks=8".to_owned(), "poll_tasks_max"),
        ("taskType=t&maxTasks=4000000000".to_owned(), "poll_tasks_max"),
        ("taskType=t&waitSeconds=1800".to_owned(), "poll_wait_seconds_max"),
        (format!("taskType={}", &types[..20_000]), "100 types"),
        (format!("taskType={long}"), "500 bytes"),
        (format!("taskType=t&workerId={long}"), "200 bytes"),
    ];
    for (query, limit) in polls {
        let problem = client.get(&format!("/api/n8n/external-tasks/poll?{query}")).await?;
        let problem = problem.expect_problem(400, "invalid_request")?;
        assert!(problem["detail"].as_str().is_some_and(|text| text.contains(limit)), "{limit}: {problem}");
    }
    let nobody = "00000000-0000-4000-8000-000000000000";
    let batch = json!({ "tasks": [{ "id": nobody }, { "id": nobody }, { "id": nobody }] });
    for verb in ["complete", "fail"] {
        let problem = client.post(&format!("/api/n8n/external-tasks/{verb}"), &batch).await?;
        let problem = problem.expect_problem(400, "invalid_request")?;
        assert!(
            problem["detail"].as_str().is_some_and(|text| text.contains("batch_reports_max")),
            "{problem}"
        );
    }
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_pattern_gets_what_matches,
    a_new_type_wakes_a_parked_pattern,
    too_much_is_refused_by_name,
);
