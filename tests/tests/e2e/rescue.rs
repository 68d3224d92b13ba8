//! Deadlines: time-outs, locks that expire, heartbeats that stay away. Each test waits for what must happen, however
//! long the machine takes; none asserts that something happened soon.

use anyhow::Result;
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task, until};

/// Nobody takes the task: its attempts run out by time alone.
async fn an_unclaimed_task_times_out(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["timeout: 300ms", "retries: 2"])).await?;
    let id = client.start("one", json!({})).await?;
    let instance = client.instance_is(&id, "failed").await?;
    assert_eq!(instance["error"]["code"], "task_timeout");
    let letters = client.get("/api/v1/dead-letters").await?.expect(200)?;
    assert_eq!(letters["items"][0]["retryCount"], 2);
    host.stop().await;
    Ok(())
}

/// The worker is too slow: the attempt is spent, and the next one can be taken.
async fn a_locked_task_times_out_and_is_offered_again(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["timeout: 2s", "lockDuration: 300s", "retries: 1000"])).await?;
    client.start("one", json!({})).await?;
    let slow = client.poll("t", "slow").await?;
    let next = client.poll("t", "next").await?;
    assert_eq!(next["id"], slow["id"]);
    assert!(next["retryCount"].as_i64() > slow["retryCount"].as_i64(), "{next}");
    assert_eq!(next["lockExpiries"], 0, "a time-out is not a lock's end");
    client.report(&slow, "complete", &json!({})).await?.expect_problem(409, "lock_lost")?;
    host.stop().await;
    Ok(())
}

/// The worker died: another gets the task, no attempt is spent, and the dead one's result is not taken.
async fn an_expired_lock_frees_the_task(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["lockDuration: 500ms", "maxLockExpiries: 1000"])).await?;
    let id = client.start("one", json!({})).await?;
    let dead = client.poll("t", "dead").await?;
    // It asks for a longer lock, so it has all the time that the machine needs.
    let tasks = client.poll_with("taskType=t&workerId=alive&waitSeconds=120&lockDurationSeconds=600").await?;
    let alive = tasks.first().expect("the task is offered again");
    assert_eq!(alive["id"], dead["id"]);
    assert_eq!((&alive["retryCount"], &alive["lockExpiries"]), (&json!(0), &json!(1)));
    assert_ne!(alive["lockToken"], dead["lockToken"]);
    client.report(&dead, "complete", &json!({})).await?.expect_problem(409, "lock_lost")?;
    let lost = client.report(&dead, "heartbeat", &json!({})).await?.expect(200)?;
    assert_eq!(lost["status"], "lost");
    client.complete(alive, &json!({})).await?;
    client.instance_is(&id, "completed").await?;
    host.stop().await;
    Ok(())
}

/// A task that kills each of its workers is poison in the end.
async fn a_poisonous_task_fails(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["lockDuration: 100ms", "maxLockExpiries: 1"])).await?;
    let id = client.start("one", json!({})).await?;
    for _ in 0..2 {
        client.poll("t", "victim").await?;
    }
    let instance = client.instance_is(&id, "failed").await?;
    assert_eq!(instance["error"]["code"], "task_poison");
    host.stop().await;
    Ok(())
}

/// Heartbeats are promised and do not come: the task is free long before its lock ends.
async fn missed_heartbeats_free_the_task(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let config =
        ["lockDuration: 1h", "heartbeat: { interval: 200ms, maxMissed: 2 }", "maxLockExpiries: 1000"];
    client.deploy("one", one_task("t", &config)).await?;
    client.start("one", json!({})).await?;
    let silent = client.poll("t", "silent").await?;
    let next = client.poll("t", "next").await?;
    assert_eq!(next["id"], silent["id"]);
    assert_eq!(next["lockExpiries"], 1);
    host.stop().await;
    Ok(())
}

/// A heartbeat moves the lock's end, never the attempt's, and its checkpoint reaches the next attempt.
async fn a_heartbeat_extends_the_lock(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["timeout: 1h", "lockDuration: 10m"])).await?;
    client.start("one", json!({})).await?;
    let task = client.poll("t", "me").await?;
    // The clock counts milliseconds: wait for the next one.
    until("the lock ends later than it did", async || {
        let beat =
            client.report(&task, "heartbeat", &json!({ "checkpoint": { "page": 3 } })).await?.expect(200)?;
        assert_eq!(beat["status"], "continue");
        Ok(beat["lockExpiresAt"].as_str() > task["lockExpiresAt"].as_str())
    })
    .await?;
    let shown = client.task(&task["id"]).await?;
    assert_eq!(shown["timeoutAt"], task["timeoutAt"]);
    client.report(&task, "fail", &json!({ "message": "later" })).await?.expect(200)?;
    let next = client.poll("t", "me").await?;
    assert_eq!(next["checkpoint"], json!({ "page": 3 }));
    assert_eq!(next["retryCount"], 1);
    host.stop().await;
    Ok(())
}

/// A host that comes up finds what fell due while it was away.
async fn a_new_host_finds_what_is_due(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    host.client.deploy("one", one_task("t", &["lockDuration: 1s", "maxLockExpiries: 1000"])).await?;
    let id = host.client.start("one", json!({})).await?;
    host.client.poll("t", "gone").await?;
    host.stop().await;
    let host = Host::start(&db).await?;
    let tasks = host.client.poll_with("taskType=t&waitSeconds=120&lockDurationSeconds=600").await?;
    host.client.complete(tasks.first().expect("the task is offered again"), &json!({})).await?;
    host.client.instance_is(&id, "completed").await?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    an_unclaimed_task_times_out,
    a_locked_task_times_out_and_is_offered_again,
    an_expired_lock_frees_the_task,
    a_poisonous_task_fails,
    missed_heartbeats_free_the_task,
    a_heartbeat_extends_the_lock,
    a_new_host_finds_what_is_due,
);
