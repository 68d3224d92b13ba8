//! Two hosts on one PostgreSQL: their workers share the tasks, and each host hears of what is free again on the other.

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task};

use crate::crowds::{LONG_MS, completed_at_once, shared};
use crate::support::{fetch_one, fetch_topics, id, post};

async fn fetchers_share_what_another_host_made(db: TestDb) -> Result<()> {
    let (left, right) = (Host::start(&db).await?, Host::start(&db).await?);
    shared(&left, &right).await?;
    left.stop().await;
    right.stop().await;
    Ok(())
}

async fn no_completion_meets_a_conflict_on_two_hosts(db: TestDb) -> Result<()> {
    let (left, right) = (Host::start(&db).await?, Host::start(&db).await?);
    completed_at_once(&[&left, &right]).await?;
    left.stop().await;
    right.stop().await;
    Ok(())
}

/// A task that is given back, or whose lock ends, on one host wakes a fetch that waits on the other.
async fn what_is_free_again_wakes_the_other_host(db: TestDb) -> Result<()> {
    let (left, right) = (Host::start(&db).await?, Host::start(&db).await?);
    left.client.deploy("flow", one_task("t", &["maxLockExpiries: 1000"])).await?;
    for lock_ms in [LONG_MS, 2_000] {
        left.client.start("flow", json!({})).await?;
        let topics = json!([{ "topicName": "t", "lockDuration": lock_ms }]);
        let options = json!({ "maxTasks": 1, "asyncResponseTimeout": 60_000 });
        let held = fetch_topics(&left.client, "a", topics, options).await?.pop().context("a task")?;
        let waiting = tokio::spawn({
            let client = right.client.clone();
            async move { fetch_one(&client, "t", "b").await }
        });
        if lock_ms == LONG_MS {
            right.parked_polls(1).await?;
            post(&left.client, &format!("/external-task/{}/unlock", id(&held)), &json!(null))
                .await?
                .expect(204)?;
        }
        let next = waiting.await??;
        assert_eq!((id(&next), &next["workerId"]), (id(&held), &json!("b")));
        post(&right.client, &format!("/external-task/{}/complete", id(&next)), &json!({ "workerId": "b" }))
            .await?
            .expect(204)?;
    }
    left.stop().await;
    right.stop().await;
    Ok(())
}

stepwell_tests::on_postgres!(
    fetchers_share_what_another_host_made,
    no_completion_meets_a_conflict_on_two_hosts,
    what_is_free_again_wakes_the_other_host,
);
