//! Many workers at once: they share what is there, none is answered with a conflict, and what a client that has gone away was
//! to get is offered again.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use futures::future::try_join_all;
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, one_task, until};
use tokio::task::JoinSet;

use crate::support::{fetch, fetch_one, fetch_topics, id, path, post};

/// Parallel steps of one workflow.
const STEPS: usize = 20;
/// Fetchers that wait for all of their tasks.
const FETCHERS: usize = 5;
/// A lock that no test sees the end of.
pub const LONG_MS: u64 = 3_600_000;

/// Parallel steps, and one that waits for all of them.
fn fan() -> String {
    let step =
        |n| format!("\n  - {{ id: s{n}, type: EXTERNAL_TASK, dependsOn: [], config: {{ taskType: t }} }}");
    let names = (0..STEPS).map(|n| format!("s{n}")).collect::<Vec<_>>().join(", ");
    let join = format!(
        "\n  - {{ id: last, type: EXTERNAL_TASK, dependsOn: [{names}], config: {{ taskType: last }} }}"
    );
    format!("steps:{}{join}\n", (0..STEPS).map(step).collect::<String>())
}

/// Five who each ask for all: nobody gets all, and nobody nothing.
pub async fn shared(parked: &Host, starting: &Host) -> Result<()> {
    starting.client.deploy("fan", fan()).await?;
    let mut fetchers = JoinSet::new();
    for n in 0..FETCHERS {
        let client = parked.client.clone();
        fetchers.spawn(async move {
            let topics = json!([{ "topicName": "t", "lockDuration": LONG_MS }]);
            let options = json!({ "maxTasks": STEPS, "asyncResponseTimeout": 1_000_000 });
            fetch_topics(&client, &format!("w{n}"), topics, options).await
        });
    }
    parked.parked_polls(FETCHERS).await?;
    starting.client.start("fan", json!({})).await?;
    let mut ids = BTreeSet::new();
    while let Some(tasks) = fetchers.join_next().await {
        let tasks = tasks??;
        assert!(!tasks.is_empty(), "one went away empty");
        ids.extend(tasks.iter().map(|task| id(task).to_owned()));
    }
    assert_eq!(ids.len(), STEPS, "each task went to one");
    Ok(())
}

async fn fetchers_share_what_is_there(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    shared(&host, &host).await?;
    host.stop().await;
    Ok(())
}

/// Every branch of a join is completed at the same moment, and each changes the same variable: all are taken.
pub async fn completed_at_once(hosts: &[&Host]) -> Result<()> {
    let client = &hosts[0].client;
    client.deploy("fan", fan()).await?;
    let instance = client.start("fan", json!({})).await?;
    let mut tasks = Vec::new();
    while tasks.len() < STEPS {
        let topics = json!([{ "topicName": "t", "lockDuration": LONG_MS }]);
        let options = json!({ "maxTasks": STEPS, "asyncResponseTimeout": 1_000_000 });
        tasks.extend(fetch_topics(client, "w", topics, options).await?);
    }
    try_join_all(tasks.iter().enumerate().map(async |(n, task)| -> Result<()> {
        let body = json!({ "workerId": "w", "variables": {
            "shared": { "value": n }, (format!("own{n}")): { "value": n },
        } });
        let client = &hosts[n % hosts.len()].client;
        post(client, &format!("/external-task/{}/complete", id(task)), &body).await?.expect(204)?;
        Ok(())
    }))
    .await?;
    let last = fetch_one(client, "last", "w").await?;
    let seen = |name: &str| last["variables"][name]["value"].as_u64();
    assert!((0..STEPS).all(|n| seen(&format!("own{n}")) == Some(n as u64)), "{last}");
    assert!(seen("shared").is_some());
    post(client, &format!("/external-task/{}/complete", id(&last)), &json!({ "workerId": "w" }))
        .await?
        .expect(204)?;
    client.instance_is(&instance, "completed").await?;
    Ok(())
}

async fn no_completion_meets_a_conflict(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    completed_at_once(&[&host]).await?;
    host.stop().await;
    Ok(())
}

/// Clients that come and go while tasks arrive, with filters, an order, and locks of several lengths.
async fn tasks_survive_clients_that_go_away(db: TestDb) -> Result<()> {
    const ROUNDS: usize = 12;
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    let long = |more: Value| {
        let mut topic = json!({ "topicName": "t", "lockDuration": LONG_MS });
        more.as_object().into_iter().flatten().for_each(|(name, value)| topic[name] = value.clone());
        topic
    };
    let longer = json!({ "topicName": "other", "lockDuration": 2 * LONG_MS });
    let sorting = json!({ "sorting": [{ "sortBy": "createTime", "sortOrder": "asc" }] });
    let kinds = [
        (json!([long(json!({})), longer]), json!({})),
        (json!([long(json!({ "processDefinitionKey": "flow" }))]), json!({})),
        (json!([long(json!({}))]), sorting),
    ];
    for round in 0..ROUNDS {
        let (topics, mut options) = kinds[round % kinds.len()].clone();
        options["asyncResponseTimeout"] = json!(1_000_000);
        let mut fetch = JoinSet::new();
        let gone = client.clone();
        fetch.spawn(async move { fetch_topics(&gone, "gone", topics, options).await });
        let (started, ()) = tokio::join!(client.start("flow", json!({})), async {
            for _ in 0..round {
                tokio::task::yield_now().await;
            }
            fetch.abort_all();
        });
        started?;
    }
    // Whatever was locked for a client that had gone is given back: sooner or later all of it can be had.
    let mut had = 0;
    until("nothing is left", async || {
        had += fetch(client, "t", "stays").await?.len();
        let open = locked_by(client, "gone").await?;
        Ok(had == ROUNDS && open == 0)
    })
    .await?;
    host.stop().await;
    Ok(())
}

async fn locked_by(client: &Client, worker: &str) -> Result<u64> {
    let count = client
        .get(&path(&format!("/external-task/count?locked=true&workerId={worker}")))
        .await?
        .expect(200)?;
    count["count"].as_u64().context("a count")
}

stepwell_tests::on_both_databases!(
    fetchers_share_what_is_there,
    no_completion_meets_a_conflict,
    tasks_survive_clients_that_go_away,
);
