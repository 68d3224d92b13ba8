//! lock, extendLock, unlock, retries and priority of one task.

use anyhow::Result;
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task, until};

use crate::support::{fetch, fetch_one, fetch_topics, get, id, path, post, put, refused};

async fn locks_belong_to_a_worker(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    client.start("flow", json!({})).await?;
    let task = id(&fetch_one(client, "t", "a").await?).to_owned();
    let (lock, extend) = (format!("/external-task/{task}/lock"), format!("/external-task/{task}/extendLock"));
    let by = |worker: &str| json!({ "workerId": worker, "lockDuration": 60_000, "newDuration": 600_000 });
    refused(
        post(client, &lock, &by("b")).await?,
        400,
        "RestException",
        &format!("External Task {task} cannot be locked by worker 'b'. It is locked by worker 'a'."),
    )?;
    refused(
        post(client, &extend, &by("b")).await?,
        400,
        "RestException",
        &format!(
            "The lock of the External Task {task} cannot be extended by worker 'b''. It is locked by worker 'a'."
        ),
    )?;
    post(client, &lock, &by("a")).await?.expect(204)?;
    let before = get(client, &format!("/external-task/{task}")).await?["lockExpirationTime"].clone();
    post(client, &extend, &by("a")).await?.expect(204)?;
    let after = get(client, &format!("/external-task/{task}")).await?["lockExpirationTime"].clone();
    assert!(after.as_str() > before.as_str(), "{before} {after}");
    // Anyone may take a lock away, without a body and with the body `null`.
    for body in ["", "null"] {
        client.send("POST", &path(&format!("/external-task/{task}/unlock")), body).await?.expect(204)?;
    }
    refused(
        post(client, &extend, &by("a")).await?,
        400,
        "RestException",
        &format!(
            "The lock of the External Task {task} cannot be extended by worker 'a''. It is locked by worker 'null'."
        ),
    )?;
    post(client, &lock, &by("b")).await?.expect(204)?;
    assert!(fetch(client, "t", "a").await?.is_empty());
    host.stop().await;
    Ok(())
}

/// Taking a lock away is no new attempt: the time of this one goes on.
async fn an_unlocked_task_keeps_its_time(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &["timeout: 1h"])).await?;
    client.start("flow", json!({})).await?;
    let task = id(&fetch_one(client, "t", "a").await?).to_owned();
    let before = client.task(&json!(task)).await?;
    // The clock counts milliseconds: wait for the next one.
    until("time has passed", async || {
        client.send("POST", &path(&format!("/external-task/{task}/unlock")), "").await?.expect(204)?;
        Ok(client.task(&json!(task)).await?["updatedAt"] != before["updatedAt"])
    })
    .await?;
    let after = client.task(&json!(task)).await?;
    assert_eq!((&after["status"], &after["timeoutAt"]), (&json!("PENDING"), &before["timeoutAt"]));
    host.stop().await;
    Ok(())
}

async fn a_lock_that_ran_out_cannot_be_extended(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    client.start("flow", json!({})).await?;
    let topics = json!([{ "topicName": "t", "lockDuration": 1 }]);
    let tasks = fetch_topics(client, "a", topics, json!({ "asyncResponseTimeout": 60_000 })).await?;
    let task = id(&tasks[0]).to_owned();
    until("it is offered again", async || Ok(client.task(&json!(task)).await?["status"] == "PENDING"))
        .await?;
    let body = json!({ "workerId": "a", "newDuration": 1_000 });
    let answer = post(client, &format!("/external-task/{task}/extendLock"), &body).await?;
    let message = answer.body["message"].as_str().unwrap_or_default().to_owned();
    assert!(
        message.starts_with("Cannot extend a lock that expired: lockExpirationTime is not greater"),
        "{message}"
    );
    answer.expect(400)?;
    host.stop().await;
    Ok(())
}

async fn retries_and_priorities_are_set(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    for _ in 0..3 {
        client.start("flow", json!({})).await?;
    }
    let all = get(client, "/external-task?sortBy=createTime&sortOrder=asc").await?;
    let ids: Vec<&str> = all.as_array().into_iter().flatten().map(id).collect();
    put(client, &format!("/external-task/{}/retries", ids[0]), &json!({ "retries": 4 }))
        .await?
        .expect(204)?;
    put(client, &format!("/external-task/{}/priority", ids[2]), &json!({ "priority": 50 }))
        .await?
        .expect(204)?;
    assert_eq!(get(client, &format!("/external-task/{}", ids[0])).await?["retries"], 4);
    let topics = json!([{ "topicName": "t", "lockDuration": 600_000 }]);
    let first = fetch_topics(client, "w", topics, json!({ "maxTasks": 1, "usePriority": true })).await?;
    assert_eq!((id(&first[0]), &first[0]["priority"]), (ids[2], &json!(50)));
    // Many at once: by ids, and by a query.
    let many = json!({ "retries": 9, "externalTaskIds": [ids[0]], "externalTaskQuery": { "externalTaskIdIn": [ids[1]] } });
    put(client, "/external-task/retries", &many).await?.expect(204)?;
    for task in &ids[..2] {
        assert_eq!(get(client, &format!("/external-task/{task}")).await?["retries"], 9);
    }
    assert_eq!(get(client, &format!("/external-task/{}", ids[2])).await?["retries"], json!(null));
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    locks_belong_to_a_worker,
    an_unlocked_task_keeps_its_time,
    a_lock_that_ran_out_cannot_be_extended,
    retries_and_priorities_are_set,
);
