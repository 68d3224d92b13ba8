//! What a worker's token may cost: fetches with filters and queries by variables end at a limit, which they name.

use anyhow::Result;
use serde_json::{Value, json};
use stepwell::store::preload;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task};

use crate::support::{fetch_topics, get, path, post, refused};

/// More than a fetch with filters, a list or a query by variables looks at.
const MANY: u64 = 10_100;

async fn looks_are_bounded(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    host.client.deploy("flow", one_task("t", &[])).await?;
    let original = host.client.start("flow", json!({ "colour": "red" })).await?;
    host.stop().await;
    let copied = preload::copy_instance(db.url(), original.parse()?, MANY, |_| {}).await;
    copied.map_err(anyhow::Error::msg)?;
    let host = Host::start(&db).await?;
    let client = &host.client;

    let wish = |filter: Value| {
        let mut topic = json!({ "topicName": "t", "lockDuration": 600_000 });
        for (name, value) in filter.as_object().into_iter().flatten() {
            topic[name] = value.clone();
        }
        json!([topic])
    };
    let blue = wish(json!({ "processVariables": { "colour": "blue" } }));
    let body = json!({ "workerId": "w", "maxTasks": 1, "topics": blue, "asyncResponseTimeout": 100 });
    let message = "a fetch with filters looks at the first 10000 waiting tasks of a topic, and none of those of 't' is wanted; \
        let workers without filters take them, or use a topic of its own";
    let answer = post(client, "/external-task/fetchAndLock", &body).await?;
    refused(answer, 400, "InvalidRequestException", message)?;
    let red = wish(json!({ "processVariables": { "colour": "red", "size": 3 } }));
    assert_eq!(fetch_topics(client, "w", red, json!({})).await?.len(), 10);

    let message = "more than 5000 tasks would have to be looked through; narrow the query";
    for route in ["/external-task", "/external-task/count"] {
        let query = format!("{}?processVariables=colour_eq_blue", path(route));
        refused(client.get(&query).await?, 400, "InvalidRequestException", message)?;
    }
    let unbound = "An unbound number of results is forbidden! There are more than 10000; set maxResults";
    refused(client.get(&path("/external-task")).await?, 400, "InvalidRequestException", unbound)?;
    assert_eq!(get(client, "/external-task/count").await?["count"], MANY + 1);
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(looks_are_bounded);
