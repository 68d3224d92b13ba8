//! Long polls: parked without a thread or a connection, woken one by one, let go in order.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Answer, Client, Host, one_task, until};
use tokio::task::JoinSet;

const WAIT: &str = "taskType=t&waitSeconds=100";

fn park(polls: &mut JoinSet<Result<Vec<Value>>>, client: &Client, count: usize) {
    for _ in 0..count {
        let client = client.clone();
        polls.spawn(async move { client.poll_with(WAIT).await });
    }
}

/// One task wakes one poll; the others stay where they are.
async fn one_task_wakes_one_poll(db: TestDb) -> Result<()> {
    const POLLS: usize = 5;
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    let mut polls = JoinSet::new();
    park(&mut polls, client, POLLS);
    host.parked_polls(POLLS).await?;
    let mut seen = BTreeSet::new();
    for left in (0..POLLS).rev() {
        let id = client.start("one", json!({})).await?;
        let tasks = polls.join_next().await.context("a poll")???;
        assert_eq!(tasks.len(), 1);
        assert_eq!(tasks[0]["workflowInstanceId"], id.as_str());
        assert!(seen.insert(tasks[0]["id"].to_string()), "each task goes to one poll");
        host.parked_polls(left).await?;
    }
    host.stop().await;
    Ok(())
}

/// However many wait for the same: each new task wakes one, and the others do not come back.
async fn one_task_wakes_one_of_many_polls(db: TestDb) -> Result<()> {
    const POLLS: usize = 256;
    const TASKS: usize = 8;
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    let mut polls = JoinSet::new();
    park(&mut polls, client, POLLS);
    host.parked_polls(POLLS).await?;
    for woken in 1..=TASKS {
        let id = client.start("one", json!({})).await?;
        let tasks = polls.join_next().await.context("a poll")???;
        assert_eq!((tasks.len(), &tasks[0]["workflowInstanceId"]), (1, &json!(id)));
        host.parked_polls(POLLS - woken).await?;
        assert!(polls.try_join_next().is_none(), "another poll was answered");
    }
    host.stop().await;
    while let Some(tasks) = polls.join_next().await {
        assert!(tasks??.is_empty());
    }
    Ok(())
}

/// Many polls and many starts at once: every task reaches exactly one poll.
async fn a_crowd_shares_the_tasks(db: TestDb) -> Result<()> {
    const CROWD: usize = 40;
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    let mut polls = JoinSet::new();
    park(&mut polls, client, CROWD);
    let starts = (0..CROWD).map(|_| client.start("one", json!({})));
    let started: BTreeSet<_> = futures::future::try_join_all(starts).await?.into_iter().collect();
    let mut worked = BTreeSet::new();
    while let Some(tasks) = polls.join_next().await {
        let tasks = tasks??;
        assert_eq!(tasks.len(), 1, "every poll gets its task");
        worked.insert(tasks[0]["workflowInstanceId"].as_str().context("an id")?.to_owned());
    }
    assert_eq!(worked, started);
    host.parked_polls(0).await?;
    host.stop().await;
    Ok(())
}

/// A client that goes away frees its place at once, and takes no task with it.
async fn a_gone_client_takes_nothing(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    let mut polls = JoinSet::new();
    park(&mut polls, client, 3);
    host.parked_polls(3).await?;
    polls.shutdown().await;
    host.parked_polls(0).await?;
    client.start("one", json!({})).await?;
    let task = client.poll("t", "patient").await?;
    assert_eq!((&task["workerId"], &task["lockExpiries"]), (&json!("patient"), &json!(0)));
    host.stop().await;
    Ok(())
}

/// Clients that come and go while tasks arrive: none is lost to a lock that nobody holds.
async fn tasks_survive_clients_that_come_and_go(db: TestDb) -> Result<()> {
    const TASKS: usize = 20;
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    for _ in 0..TASKS {
        let mut polls = JoinSet::new();
        park(&mut polls, client, 2);
        let start = client.start("one", json!({}));
        let (started, ()) = tokio::join!(start, async {
            tokio::task::yield_now().await;
            polls.abort_all();
        });
        started?;
    }
    host.parked_polls(0).await?;
    // Whatever was claimed for a client that had gone is given back: sooner or later all of it can be had.
    until("nothing is left", async || {
        client
            .poll_with(&format!("taskType=t&maxTasks={TASKS}&waitSeconds=0&lockDurationSeconds=600"))
            .await?;
        let page = client.get("/api/v1/tasks?limit=100").await?.expect(200)?;
        let tasks = page["items"].as_array().context("tasks")?;
        assert_eq!(tasks.len(), TASKS);
        assert!(tasks.iter().all(|task| task["lockExpiries"] == 0 && task["retryCount"] == 0), "{page}");
        Ok(tasks.iter().all(|task| task["status"] == "LOCKED"))
    })
    .await?;
    host.stop().await;
    Ok(())
}

/// Too many polls are turned away, one tenant's without harm to another's.
async fn polls_are_bounded(db: TestDb) -> Result<()> {
    let host = Host::start_with(&db, |settings| {
        settings.limits.parked_polls_max = 3;
        settings.limits.parked_polls_per_tenant_max = 2;
    })
    .await?;
    let client = &host.client;
    let mut polls = JoinSet::new();
    park(&mut polls, client, 2);
    host.parked_polls(2).await?;
    let path = format!("/api/n8n/external-tasks/poll?{WAIT}");
    let refused: Answer = client.get(&path).await?;
    assert!(refused.headers.contains_key("retry-after"));
    refused.expect_problem(429, "too_many_parked_polls")?;
    park(&mut polls, &client.tenant("other"), 1);
    host.parked_polls(3).await?;
    client.tenant("third").get(&path).await?.expect_problem(429, "too_many_parked_polls")?;
    host.stop().await;
    Ok(())
}

/// A host that stops answers its parked polls: with nothing, and not with a broken connection.
async fn a_stopping_host_answers_its_polls(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let mut polls = JoinSet::new();
    park(&mut polls, &host.client, 4);
    host.parked_polls(4).await?;
    host.stop().await;
    while let Some(tasks) = polls.join_next().await {
        assert!(tasks??.is_empty());
    }
    Ok(())
}

/// A poll that does not want to wait does not.
async fn a_hasty_poll_is_answered_at_once(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    assert!(host.client.poll_with("taskType=t&waitSeconds=0").await?.is_empty());
    assert!(host.client.poll_with("taskType=t&waitSeconds=1").await?.is_empty());
    host.parked_polls(0).await?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    one_task_wakes_one_poll,
    one_task_wakes_one_of_many_polls,
    a_crowd_shares_the_tasks,
    a_gone_client_takes_nothing,
    tasks_survive_clients_that_come_and_go,
    polls_are_bounded,
    a_stopping_host_answers_its_polls,
    a_hasty_poll_is_answered_at_once,
);
