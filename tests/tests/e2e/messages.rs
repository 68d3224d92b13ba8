//! Messages and timers, shown with a step type that uses them.

use anyhow::Result;
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::guests;
use stepwell_tests::host::{Host, step};

const WAITING: &str = "steps:
  - id: wait
    type: COURIER
    config: { name: paid, correlation: \"${workflow.context.order}\" }
";

/// A message reaches those who wait for it, by name and correlation.
async fn a_message_reaches_who_waits_for_it(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    host.add_plugin("COURIER", &guests::courier()).await?;
    client.deploy("order", WAITING).await?;
    let (seven, eight) = (
        client.start("order", json!({ "order": "7" })).await?,
        client.start("order", json!({ "order": "8" })).await?,
    );
    let send = async |client: &stepwell_tests::host::Client, name: &str, correlation: &str| {
        let body = json!({ "name": name, "correlation": correlation, "payload": { "amount": 12 } });
        let sent = client.post("/api/v1/messages", &body).await?.expect(200)?;
        anyhow::Ok(sent["delivered"].clone())
    };
    assert_eq!(send(client, "paid", "9").await?, 0);
    assert_eq!(send(client, "other", "7").await?, 0);
    assert_eq!(send(&client.tenant("other"), "paid", "7").await?, 0);
    assert_eq!(send(client, "paid", "7").await?, 1);
    let instance = client.instance_is(&seven, "completed").await?;
    assert_eq!(step(&instance, "wait")["output"]["messages"], json!([{ "amount": 12 }]));
    assert_eq!(send(client, "paid", "7").await?, 0, "nobody waits any more");
    assert_eq!(client.instance(&eight).await?["status"], "waiting");

    client.post(&format!("/api/v1/instances/{eight}/cancel"), &json!({})).await?.expect(204)?;
    assert_eq!(send(client, "paid", "8").await?, 0, "cancelling ends the subscription");
    host.stop().await;
    Ok(())
}

/// What one instance publishes, another receives: after the commit, through the outbox.
async fn instances_send_each_other_messages(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    host.add_plugin("COURIER", &guests::courier()).await?;
    client.deploy("order", WAITING).await?;
    let send = "steps:
  - id: send
    type: COURIER
    config: { publish: { name: paid, correlation: \"7\", payload: { from: sender } } }
";
    client.deploy("sender", send).await?;
    let waiting = client.start("order", json!({ "order": "7" })).await?;
    let sender = client.start("sender", json!({})).await?;
    client.instance_is(&sender, "completed").await?;
    let instance = client.instance_is(&waiting, "completed").await?;
    assert_eq!(step(&instance, "wait")["output"]["messages"], json!([{ "from": "sender" }]));
    stepwell_tests::host::until("the outbox is empty", async || Ok(db.count("workflow_outbox").await? == 0))
        .await?;
    host.stop().await;
    Ok(())
}

/// Timers fire, are set again, are cancelled by a message, and fail a step that waited in vain.
async fn timers_fire_when_they_are_due(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    host.add_plugin("COURIER", &guests::courier()).await?;
    client
        .deploy("delay", "steps:\n  - { id: d, type: COURIER, config: { timeout: 200ms, patience: 2 } }\n")
        .await?;
    let late = "steps:\n  - { id: d, type: COURIER, config: { name: never, timeout: 200ms } }\n";
    client.deploy("late", late).await?;
    let (delayed, failing) =
        (client.start("delay", json!({})).await?, client.start("late", json!({})).await?);
    let instance = client.instance_is(&delayed, "completed").await?;
    assert_eq!(step(&instance, "d")["output"], json!({ "fired": 3 }));
    let instance = client.instance_is(&failing, "failed").await?;
    assert_eq!(instance["error"]["code"], "courier_late");
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_message_reaches_who_waits_for_it,
    instances_send_each_other_messages,
    timers_fire_when_they_are_due,
);
