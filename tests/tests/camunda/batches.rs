//! Retries of many tasks in a batch.

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, one_task, until};

use crate::support::{get, path, post, refused};

async fn finished(client: &Client, id: &str) -> Result<()> {
    until("the batch is over", async || {
        Ok(get(client, &format!("/history/batch/{id}")).await?["endTime"].is_string())
    })
    .await
}

async fn a_batch_can_be_read_and_comes_to_its_end(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    for _ in 0..60 {
        client.start("flow", json!({})).await?;
    }
    let body = json!({ "retries": 7, "processInstanceQuery": { "processDefinitionKey": "flow" } });
    let batch = post(client, "/external-task/retries-async", &body).await?.expect(200)?;
    assert_eq!((&batch["totalJobs"], &batch["type"]), (&json!(60), &json!("set-external-task-retries")));
    let id = batch["id"].as_str().context("an id")?;
    finished(client, id).await?;
    let tasks = get(client, "/external-task").await?;
    assert!(tasks.as_array().into_iter().flatten().all(|task| task["retries"] == 7), "{tasks}");
    // What is over is history.
    refused(
        client.get(&path(&format!("/batch/{id}"))).await?,
        404,
        "InvalidRequestException",
        &format!("Batch with id '{id}' does not exist"),
    )?;
    assert_eq!(get(client, "/batch/count").await?["count"], 0);
    assert_eq!(get(client, "/history/batch?completed=true").await?.as_array().map(Vec::len), Some(1));
    let other = client.tenant("other");
    assert_eq!(get(&other, "/history/batch").await?, json!([]));
    let empty = post(client, "/external-task/retries-async", &json!({ "retries": 1 })).await?;
    refused(empty, 400, "InvalidRequestException", "externalTaskIds is empty")?;
    host.stop().await;
    Ok(())
}

/// Half done by a host that died: the next one goes on.
async fn a_batch_survives_its_host(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    for _ in 0..2 {
        client.start("flow", json!({})).await?;
    }
    let tasks = get(client, "/external-task?sortBy=createTime&sortOrder=asc").await?;
    host.stop().await;
    let id = uuid::Uuid::now_v7();
    let past = "2026-01-01T00:00:00.000Z";
    db.execute(&format!(
        "insert into workflow_batches (id, tenant, kind, retries, task_ids, done, failed, created_at, due_at)
         values ('{id}', 'default', 'set-external-task-retries', 3, '[{}, {}]', 1, 0, '{past}', '{past}')",
        tasks[0]["id"], tasks[1]["id"]
    ))
    .await?;
    let host = Host::start(&db).await?;
    finished(&host.client, &id.to_string()).await?;
    let tasks = get(&host.client, "/external-task?sortBy=createTime&sortOrder=asc").await?;
    assert_eq!((&tasks[0]["retries"], &tasks[1]["retries"]), (&json!(null), &json!(3)));
    host.stop().await;
    Ok(())
}

/// A priority for all tasks of a workflow, by a template too, overridden by a step, and switched off.
async fn a_workflow_has_a_priority(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let steps = "
steps:
  - { id: a, type: EXTERNAL_TASK, dependsOn: [], config: { taskType: a } }
  - { id: b, type: EXTERNAL_TASK, dependsOn: [], config: { taskType: b, priority: 9 } }
  - { id: c, type: EXTERNAL_TASK, dependsOn: [], priority: 8, config: { taskType: c } }
";
    let priorities = async |head: &str| -> Result<Vec<i64>> {
        let key = format!("flow-{}", uuid::Uuid::now_v7().simple());
        client.deploy(&key, format!("{head}{steps}")).await?;
        client.start(&key, json!({ "order": { "priority": 3 } })).await?;
        let sorted = format!("/external-task?processDefinitionKey={key}&sortBy=createTime&sortOrder=asc");
        let tasks = get(client, &sorted).await?;
        let mut found: Vec<(String, i64)> = tasks
            .as_array()
            .into_iter()
            .flatten()
            .map(|task| (task["activityId"].to_string(), task["priority"].as_i64().unwrap_or_default()))
            .collect();
        found.sort();
        Ok(found.into_iter().map(|(_, priority)| priority).collect())
    };
    assert_eq!(priorities("").await?, [0, -4, -3]);
    assert_eq!(priorities("priority: 1").await?, [4, -4, -3]);
    assert_eq!(priorities("priority: '${workflow.context.order.priority}'").await?, [2, -4, -3]);
    assert_eq!(priorities("priority: off").await?, [0, 0, 0]);
    let wrong = client.send("POST", "/api/v1/workflows?key=wrong", format!("priority: high{steps}")).await?;
    wrong.expect_problem(400, "definition_invalid")?;
    host.stop().await;
    Ok(())
}

/// The surface has a document of its own, which knows every external-task route.
async fn the_surface_is_documented(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let document = get(&host.client, "/openapi.json").await?;
    let operations: usize = document["paths"]
        .as_object()
        .context("paths")?
        .iter()
        .filter(|(path, _)| path.starts_with("/external-task"))
        .map(|(_, item)| item.as_object().map_or(0, serde_json::Map::len))
        .sum();
    assert_eq!(operations, 18);
    for path in document["paths"].as_object().context("paths")?.keys() {
        let filled =
            path.replace("{id}", "x").replace("{name}", "x").replace("{key}", "x").replace("{tenant}", "x");
        let answer = host.client.get(&crate::support::path(&filled)).await?;
        assert_ne!(answer.body["type"], "NotFoundException", "{path} is not served");
    }
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_batch_can_be_read_and_comes_to_its_end,
    a_batch_survives_its_host,
    a_workflow_has_a_priority,
    the_surface_is_documented,
);
