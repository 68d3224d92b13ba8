//! Two hosts on one PostgreSQL: any of them can do any work, and each hears of what the other did.

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::guests;
use stepwell_tests::host::{Host, one_task, until};

/// A poll parked on one host is woken by a start on the other.
async fn a_start_on_one_wakes_a_poll_on_the_other(db: TestDb) -> Result<()> {
    let (left, right) = (Host::start(&db).await?, Host::start(&db).await?);
    right.client.deploy("one", one_task("t", &[])).await?;
    for _ in 0..3 {
        let client = left.client.clone();
        let poll = tokio::spawn(async move { client.poll_with("taskType=t&waitSeconds=100").await });
        left.parked_polls(1).await?;
        let id = right.client.start("one", json!({})).await?;
        let tasks = poll.await??;
        let task = tasks.first().context("the poll is woken")?;
        assert_eq!(task["workflowInstanceId"], id.as_str());
        right.client.complete(task, &json!({})).await?;
        left.client.instance_is(&id, "completed").await?;
    }
    left.stop().await;
    right.stop().await;
    Ok(())
}

/// Polls on both hosts share the tasks, and none is handed out twice.
async fn no_task_is_handed_out_twice(db: TestDb) -> Result<()> {
    const TASKS: usize = 30;
    let (left, right) = (Host::start(&db).await?, Host::start(&db).await?);
    left.client.deploy("one", one_task("t", &[])).await?;
    let polls: Vec<_> = (0..TASKS)
        .map(|n| {
            let client = if n % 2 == 0 { left.client.clone() } else { right.client.clone() };
            tokio::spawn(async move { client.poll("t", "w").await })
        })
        .collect();
    let starts = (0..TASKS).map(|n| if n % 3 == 0 { &left } else { &right }.client.start("one", json!({})));
    futures::future::try_join_all(starts).await?;
    let mut ids = std::collections::BTreeSet::new();
    for poll in polls {
        let task = poll.await??;
        assert!(ids.insert(task["id"].to_string()), "handed out twice: {task}");
    }
    assert_eq!(ids.len(), TASKS);
    left.stop().await;
    right.stop().await;
    Ok(())
}

/// A host that is gone leaves nothing behind that the other does not pick up.
async fn the_other_host_rescues_its_tasks(db: TestDb) -> Result<()> {
    let (left, right) = (Host::start(&db).await?, Host::start(&db).await?);
    left.client.deploy("one", one_task("t", &["lockDuration: 1s", "maxLockExpiries: 1000"])).await?;
    let id = left.client.start("one", json!({})).await?;
    left.client.poll("t", "w").await?;
    left.stop().await;
    let tasks = right.client.poll_with("taskType=t&waitSeconds=120&lockDurationSeconds=600").await?;
    right.client.complete(tasks.first().context("it is offered again")?, &json!({})).await?;
    right.client.instance_is(&id, "completed").await?;
    right.stop().await;
    Ok(())
}

/// A plugin that one host was given serves on the other.
async fn a_plugin_reaches_the_other_host(db: TestDb) -> Result<()> {
    let (left, right) = (Host::start(&db).await?, Host::start(&db).await?);
    left.add_plugin("COURIER", &guests::courier()).await?;
    until("the other host serves it", async || {
        Ok(right.client.get("/api/v1/plugins/COURIER").await?.status == 200)
    })
    .await?;
    right.client.deploy("c", "steps:\n  - { id: c, type: COURIER, config: { timeout: 10ms } }\n").await?;
    let id = right.client.start("c", json!({})).await?;
    left.client.instance_is(&id, "completed").await?;
    left.stop().await;
    right.stop().await;
    Ok(())
}

stepwell_tests::on_postgres!(
    a_start_on_one_wakes_a_poll_on_the_other,
    no_task_is_handed_out_twice,
    the_other_host_rescues_its_tasks,
    a_plugin_reaches_the_other_host,
);
