//! The guide of `wait_events`: every example in it is deployed, and the step begins as it says. Alerts name metrics that are.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::Host;
use stepwell_tests::on_both_databases;

use super::wait_events::wait_of;

const GUIDE: &str = include_str!("../../../plugins/wait-events/README.md");
const ALERTS: &str = include_str!("../../../examples/alerts/wait-events.yaml");
const METRICS: &str = include_str!("../../../host/src/metrics.rs");

/// The fenced parts of a language.
fn fenced(language: &str) -> Vec<&'static str> {
    let parts = GUIDE.split("```").skip(1).step_by(2);
    parts.filter_map(|part| part.strip_prefix(&format!("{language}\n"))).collect()
}

async fn every_example_is_deployed_and_begins(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let secret = json!({ "value": "shared-key-1", "hosts": ["unused.example"] });
    client.send("PUT", "/api/v1/secrets/HOOK", secret.to_string()).await?.expect(201)?;
    let examples = fenced("json");
    assert_eq!(examples.len(), 8, "the five examples, and three more");
    for (at, example) in examples.iter().enumerate() {
        let mut node: Value = serde_json::from_str(example).with_context(|| format!("example {at}"))?;
        node["id"] = json!("wait");
        let key = format!("example-{at}");
        client.deploy(&key, json!({ "nodes": [node.clone()] }).to_string()).await?;
        let id = client.start(&key, json!({ "order": "o-7" })).await?;
        let status = client.instance(&id).await?["status"].clone();
        if node["data"]["aggregationStrategy"] == "none" {
            assert_eq!(status, "completed", "{example}");
            continue;
        }
        assert_eq!(status, "waiting", "{example}");
        let wait = wait_of(client, &id).await?;
        let strategy = node["data"].get("aggregationStrategy").cloned().unwrap_or(json!("all"));
        assert_eq!(wait["aggregationStrategy"], strategy, "{wait}");
    }
    for (at, source) in fenced("yaml").into_iter().enumerate() {
        client.deploy(&format!("yaml-{at}"), source).await?;
    }
    let order = json!({ "type": "created", "data": { "order": "o-8" } });
    let told = client.post("/api/v1/events/orders", &order).await?.expect(200)?;
    let id = told["started"][0].as_str().context("an instance")?.to_owned();
    let paid = json!({ "execution_id": id, "data": { "order": "o-8" } });
    assert_eq!(client.post("/api/v1/events/payments", &paid).await?.expect(200)?["delivered"], 1);
    client.instance_is(&id, "completed").await?;
    host.stop().await;
    Ok(())
}

#[test]
fn alerts_name_metrics_that_there_are() -> Result<()> {
    let mut count = 0;
    for word in ALERTS.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        if word.starts_with("stepwell_") {
            count += 1;
            ensure!(METRICS.contains(&format!("\"{word}\"")), "no metric is called {word}");
        }
    }
    ensure!(count >= 7, "{count}");
    Ok(())
}

on_both_databases!(every_example_is_deployed_and_begins);
