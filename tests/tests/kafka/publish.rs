//! What a step publishes to a topic of Kafka gets there, once its commit is done, with key, headers and trace.

use anyhow::Result;
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::until;
use stepwell_tests::{guests, kafka};

use crate::setting::{Setting, start};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn sender(topic: &str) -> String {
    format!(
        "steps:\n  - id: send\n    type: COURIER\n    config:\n      publish: {{ name: 'kafka:{topic}', \
         correlation: '${{workflow.context.order}}', payload: {{ order: '${{workflow.context.order}}' }} }}\n"
    )
}

/// A message becomes a record: its correlation the key, its headers and the trace the headers.
async fn a_message_becomes_a_record(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::shared()? else { return Ok(()) };
    let setting = Setting::new(broker)?;
    let host = setting.host(&db).await?;
    host.add_plugin("COURIER", &guests::courier()).await?;
    let topic = setting.topic("out");
    host.client.deploy("sender", sender(&topic)).await?;
    let traced = host.client.with("traceparent", TRACE);
    let mut wanted = Vec::new();
    for order in 0..20 {
        let id = traced.start("sender", json!({ "order": format!("o{order}") })).await?;
        host.client.instance_is(&id, "completed").await?;
        wanted.push(format!("o{order}"));
    }
    let found = setting.records.read(&topic, wanted.len()).await?;
    until("the outbox is empty", async || Ok(db.count("workflow_outbox").await? == 0)).await?;
    let mut keys: Vec<String> = found.iter().filter_map(|record| record.key.clone()).collect();
    keys.sort();
    wanted.sort();
    assert_eq!(keys, wanted);
    for record in &found {
        assert_eq!(record.json(), json!({ "order": record.key }));
        assert_eq!(record.headers["sent-by"], "send");
        assert!(record.headers["stepwell-id"].len() == 36, "{record:?}");
        assert_eq!(record.headers["traceparent"][3..35], TRACE[3..35], "one trace");
        assert!(!record.headers.contains_key("tenant"));
    }
    host.stop().await;
    Ok(())
}

/// A broker that is away keeps messages waiting, and nothing else; they arrive when it is back.
async fn messages_wait_for_a_broker_that_is_away(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::own(false)? else { return Ok(()) };
    let setting = Setting::new(&broker)?;
    let host = setting.host(&db).await?;
    host.add_plugin("COURIER", &guests::courier()).await?;
    let topic = setting.topic("out");
    setting.records.make(&topic, 1).await?;
    let says = async |word: &str| Ok(host.client.get("/readyz").await?.expect(200)?["kafka"] == word);
    until("Kafka is up", async || says("up").await).await?;
    host.client.deploy("sender", sender(&topic)).await?;
    broker.crash();
    let id = host.client.start("sender", json!({ "order": "late" })).await?;
    host.client.instance_is(&id, "completed").await?;
    until("the host says that Kafka is away", async || says("down").await).await?;
    assert_eq!(db.count("workflow_outbox").await?, 1, "it is kept");
    broker.resume().map_err(anyhow::Error::msg)?;
    until("Kafka is up again", async || says("up").await).await?;
    assert_eq!(setting.records.read(&topic, 1).await?[0].key.as_deref(), Some("late"));
    until("the outbox is empty", async || Ok(db.count("workflow_outbox").await? == 0)).await?;
    host.stop().await;
    Ok(())
}

/// Kafka is one tenant's, unless records say whose they are; a name that is no topic's is the plugin's fault.
async fn a_tenant_sends_only_where_it_may(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::shared()? else { return Ok(()) };
    let setting = Setting::new(broker)?;
    let topic = setting.topic("out");
    let host = setting.host(&db).await?;
    host.add_plugin("COURIER", &guests::courier()).await?;
    let other = host.client.tenant("acme");
    other.deploy("sender", sender(&topic)).await?;
    other.start("sender", json!({ "order": "1" })).await?;
    let dead = async || {
        let listed = other.get("/api/v1/outbox/dead-letters").await?.expect(200)?;
        anyhow::Ok(listed["items"].as_array().cloned().unwrap_or_default())
    };
    until("it is a dead letter", async || Ok(dead().await?.len() == 1)).await?;
    assert!(dead().await?[0]["error"].to_string().contains("--kafka-tenant-header"), "{:?}", dead().await?);
    host.client.deploy("wrong", sender("^all")).await?;
    let id = host.client.start("wrong", json!({ "order": "1" })).await?;
    host.client.instance_is(&id, "incident").await?;
    host.stop().await;

    let mut flags = setting.flags();
    flags.tenant_header = Some("tenant".into());
    let host = start(&db, flags).await?;
    host.add_plugin("COURIER", &guests::courier()).await?;
    let other = host.client.tenant("acme");
    other.start("sender", json!({ "order": "2" })).await?;
    let found = setting.records.read(&topic, 1).await?;
    assert_eq!(found[0].headers["tenant"], "acme");
    assert_eq!(found[0].key.as_deref(), Some("2"));
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_message_becomes_a_record,
    messages_wait_for_a_broker_that_is_away,
    a_tenant_sends_only_where_it_may,
);
