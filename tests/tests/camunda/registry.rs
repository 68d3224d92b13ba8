//! Camunda's workers among all workers: listed by name, found by `why`, let go with a goodbye.

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task, until};
use tokio::task::JoinSet;

use crate::support::{fetch_topics, get, id, path, post, refused};

/// Whatever a worker asks for, with filters, in an order or plainly, it is known.
async fn camundas_workers_are_known(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    let sorting = json!({ "sorting": [{ "sortBy": "createTime", "sortOrder": "asc" }] });
    for (worker, filter, options) in [
        ("plain", json!({}), json!({})),
        ("picky", json!({ "processDefinitionKey": "flow" }), json!({})),
        ("orderly", json!({}), sorting),
    ] {
        let mut topic = json!({ "topicName": "t", "lockDuration": 600_000 });
        filter.as_object().into_iter().flatten().for_each(|(name, value)| topic[name] = value.clone());
        assert!(fetch_topics(client, worker, json!([topic]), options.clone()).await?.is_empty());
        client.start("flow", json!({})).await?;
        let task = fetch_topics(client, worker, json!([topic]), options).await?.pop().context("a task")?;
        post(client, &format!("/external-task/{}/complete", id(&task)), &json!({ "workerId": worker }))
            .await?
            .expect(204)?;
        let shown = client.get(&format!("/api/v1/workers/{worker}")).await?.expect(200)?;
        assert_eq!(
            (&shown["workerType"], &shown["status"]),
            (&json!("camunda"), &json!("ACTIVE")),
            "{shown}"
        );
        assert_eq!((&shown["taskTypes"], &shown["polls"]), (&json!(["t"]), &json!(2)), "{shown}");
        assert_eq!((&shown["tasksCompleted"], &shown["tasksFailed"]), (&json!(1), &json!(0)), "{shown}");
    }
    host.stop().await;
    Ok(())
}

/// A worker with filters that waits is somebody who polls, and its goodbye answers it at once.
async fn a_picky_worker_can_say_goodbye(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    let waiting = tokio::spawn({
        let client = client.clone();
        async move {
            let topics = json!([{ "topicName": "t", "lockDuration": 600_000, "businessKey": "mine" }]);
            fetch_topics(&client, "picky", topics, json!({ "asyncResponseTimeout": 1_000_000 })).await
        }
    });
    until("the worker is known", async || Ok(client.get("/api/v1/workers/picky").await?.status == 200))
        .await?;
    let instance = client.start("flow", json!({})).await?;
    let task = get(client, &format!("/external-task?processInstanceId={instance}")).await?[0].clone();
    let why = client.get(&format!("/api/v1/tasks/{}/why", id(&task))).await?.expect(200)?;
    assert_eq!(why["workers"], json!(["picky"]), "{why}");
    client.post("/api/v1/workers/picky/goodbye", &json!({})).await?.expect(200)?;
    assert!(waiting.await??.is_empty());
    host.stop().await;
    Ok(())
}

/// A host that stops answers those who wait, with filters or without.
async fn a_stopping_host_answers_its_fetches(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let mut waiting = JoinSet::new();
    for (worker, topic) in [
        ("plain", json!({ "topicName": "t", "lockDuration": 600_000 })),
        ("picky", json!({ "topicName": "t", "lockDuration": 600_000, "businessKey": "mine" })),
    ] {
        let client = host.client.clone();
        waiting.spawn(async move {
            fetch_topics(&client, worker, json!([topic]), json!({ "asyncResponseTimeout": 1_000_000 })).await
        });
        let known = format!("/api/v1/workers/{worker}");
        until("the worker is known", async || Ok(host.client.get(&known).await?.status == 200)).await?;
    }
    host.stop().await;
    while let Some(tasks) = waiting.join_next().await {
        assert!(tasks??.is_empty());
    }
    Ok(())
}

/// Too many who wait are told so in Camunda's words.
async fn too_many_fetches_are_turned_away(db: TestDb) -> Result<()> {
    let host = Host::start_with(&db, |settings| settings.limits.parked_polls_max = 1).await?;
    let body = json!({
        "workerId": "w", "maxTasks": 1, "topics": [{ "topicName": "t", "lockDuration": 1 }],
        "asyncResponseTimeout": 1_000_000,
    });
    let mut waiting = JoinSet::new();
    let (client, first) = (host.client.clone(), body.clone());
    waiting.spawn(async move { client.post(&path("/external-task/fetchAndLock"), &first).await });
    host.parked_polls(1).await?;
    refused(
        post(&host.client, "/external-task/fetchAndLock", &body).await?,
        500,
        "InvalidRequestException",
        "At the moment the server has to handle too many requests at the same time. Please try again later.",
    )?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    camundas_workers_are_known,
    a_picky_worker_can_say_goodbye,
    a_stopping_host_answers_its_fetches,
    too_many_fetches_are_turned_away,
);
