//! Copies of a finished instance, as benchmarks load them: a host serves them like instances of its own.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell::store::preload;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task, step};

const COPIES: u64 = 25;

async fn copies_are_instances_like_others(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("w", one_task("t", &[])).await?;
    let original = client.start("w", json!({ "order": 7 })).await?;
    client.work("t", &json!({ "result": { "receipt": "r-1" } })).await?;
    client.instance_is(&original, "completed").await?;

    let copied = preload::copy_instance(db.url(), original.parse()?, COPIES, |_| {}).await;
    copied.map_err(anyhow::Error::msg)?;

    let listed = client.get("/api/v1/instances?status=completed&limit=100").await?.expect(200)?;
    let items = listed["items"].as_array().context("no list")?;
    assert_eq!(items.len() as u64, COPIES + 1, "{listed}");
    // The newest comes first: copies are older than what they were copied from, each at a time of its own.
    assert_eq!(items[0]["id"], json!(original), "{listed}");
    let times: std::collections::HashSet<String> =
        items.iter().map(|item| item["endedAt"].to_string()).collect();
    assert_eq!(times.len(), items.len(), "{listed}");

    let copy = items[1]["id"].as_str().context("no id")?;
    let (of_original, of_copy) = (client.instance(&original).await?, client.instance(copy).await?);
    assert_eq!(of_copy["context"], of_original["context"]);
    assert_eq!(step(&of_copy, "work")["output"], step(&of_original, "work")["output"]);
    let timeline = async |id: &str| -> Result<usize> {
        let told = client.get(&format!("/api/v1/instances/{id}/timeline")).await?.expect(200)?;
        Ok(told["items"].as_array().map_or(0, Vec::len))
    };
    let lines = timeline(&original).await?;
    assert!(lines > 0);
    assert_eq!(timeline(copy).await?, lines);

    // Nothing of the copies is handed out, and the host goes on.
    let next = client.start("w", json!({})).await?;
    let task: Value = client.poll("t", "w-1").await?;
    assert_eq!(task["workflowInstanceId"], json!(next), "{task}");
    client.complete(&task, &json!({})).await?;
    client.instance_is(&next, "completed").await?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(copies_are_instances_like_others);
