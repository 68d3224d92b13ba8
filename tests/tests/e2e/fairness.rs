//! Who is next: an instance or a tenant with very many tasks does not keep others waiting, and no task waits for ever.

use anyhow::{Context as _, Result};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, one_task};

/// Tasks of the instance that has many.
const FLOOD: usize = 60;
/// Instances that come later, with one task each.
const NEWCOMERS: usize = 5;
/// The time from one turn of an instance to its next.
const STEP_SECONDS: i64 = 10;

fn many_tasks() -> String {
    let steps = (0..FLOOD).map(|number| {
        format!("\n  - {{ id: s{number}, type: EXTERNAL_TASK, dependsOn: [], config: {{ taskType: t }} }}")
    });
    format!("steps:{}", steps.collect::<String>())
}

fn made_at(task: &Value) -> Result<DateTime<Utc>> {
    Ok(task["createdAt"].as_str().context("a time")?.parse()?)
}

/// All tasks, in the order in which they are handed out, one by one.
async fn handed_out(client: &Client, count: usize) -> Result<Vec<Value>> {
    let mut tasks = Vec::new();
    for _ in 0..count {
        tasks.push(client.poll("t", "w").await?);
    }
    Ok(tasks)
}

/// The bound: a task that comes `w` seconds after the flood has at most `w / 10 + 1` of its tasks before it.
async fn a_newcomer_is_not_behind_a_flood(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("many", many_tasks()).await?;
    client.deploy("one", one_task("t", &[])).await?;
    let flood = client.start("many", json!({})).await?;
    for _ in 0..NEWCOMERS {
        client.start("one", json!({})).await?;
    }
    let tasks = handed_out(client, FLOOD + NEWCOMERS).await?;
    let is_of_flood = |task: &Value| task["workflowInstanceId"] == flood.as_str();
    let flooded_at = made_at(tasks.iter().find(|task| is_of_flood(task)).context("a task of many")?)?;
    let (mut before, mut newcomers) = (0, 0);
    for task in &tasks {
        if is_of_flood(task) {
            before += 1;
            continue;
        }
        newcomers += 1;
        let waited = (made_at(task)? - flooded_at).num_seconds();
        assert!(before <= waited / STEP_SECONDS + 1, "{before} tasks of one instance in {waited} s");
    }
    assert_eq!((before, newcomers), (i64::try_from(FLOOD)?, NEWCOMERS), "every task has its turn");
    host.stop().await;
    Ok(())
}

/// The same where the host remembers what waits, and where it must ask the database.
async fn the_order_is_the_same_from_memory_and_database(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    host.client.deploy("many", many_tasks()).await?;
    host.client.deploy("one", one_task("t", &["priority: 4"])).await?;
    // From here on the host knows that nothing of this type waits.
    assert!(host.client.poll_with("taskType=t&waitSeconds=0").await?.is_empty());
    let flood = host.client.start("many", json!({})).await?;
    let urgent = host.client.start("one", json!({})).await?;
    let first = handed_out(&host.client, 2).await?;
    assert_eq!(first[0]["workflowInstanceId"], urgent.as_str());
    assert_eq!((&first[1]["workflowInstanceId"], &first[1]["stepId"]), (&json!(flood), &json!("s0")));
    host.stop().await;
    // Another host has to ask.
    let host = Host::start(&db).await?;
    let urgent = host.client.start("one", json!({})).await?;
    let next = handed_out(&host.client, 3).await?;
    assert_eq!(next[0]["workflowInstanceId"], urgent.as_str());
    let steps: Vec<&Value> = next[1..].iter().map(|task| &task["stepId"]).collect();
    assert_eq!(steps, ["s1", "s2"]);
    host.stop().await;
    Ok(())
}

/// Each tenant has queues of its own.
async fn a_tenant_is_not_behind_another(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let (big, small) = (host.client.tenant("big"), host.client.tenant("small"));
    big.deploy("many", many_tasks()).await?;
    small.deploy("one", one_task("t", &[])).await?;
    for _ in 0..3 {
        big.start("many", json!({})).await?;
    }
    let id = small.start("one", json!({})).await?;
    assert_eq!(small.poll("t", "w").await?["workflowInstanceId"], id.as_str());
    assert_eq!(small.poll_with("taskType=t&waitSeconds=0").await?, Vec::<Value>::new());
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_newcomer_is_not_behind_a_flood,
    the_order_is_the_same_from_memory_and_database,
    a_tenant_is_not_behind_another,
);
