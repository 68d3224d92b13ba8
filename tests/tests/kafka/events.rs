//! Records of Kafka resume waits and start workflows: on one host, and on two that share a group.

use anyhow::Result;
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{step, until};
use stepwell_tests::kafka;
use stepwell_tests::records::Records;

use crate::setting::{Setting, figure, stop};
use crate::waiting::{Waiting, resumed, workflow};

/// Every wait gets its record, whichever host reads it; the same records again change nothing. Hosts that run follow a
/// deployment, and their end notes the group's place.
async fn records_resume_waits(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::shared()? else { return Ok(()) };
    let setting = Setting::new(broker)?;
    let topic = setting.topic("in");
    setting.records.make(&topic, 4).await?;
    let hosts = setting.hosts(&db).await?;
    let client = &hosts[0].client;
    client.deploy("order", workflow(&topic, false)).await?;
    let mut all = Vec::new();
    for turn in 0..30 {
        all.push(Waiting::start(&hosts[turn % hosts.len()].client, &db, "order").await?);
    }
    for waiting in &all {
        setting.records.write_json(&topic, &waiting.execution, &waiting.record()).await?;
    }
    for waiting in &all {
        let instance = client.instance_is(&waiting.execution, "completed").await?;
        assert_eq!(step(&instance, "wait")["output"]["kafka_event"], waiting.record());
    }
    assert_eq!(resumed(&db).await?, 30);
    for waiting in &all {
        setting.records.write_json(&topic, &waiting.execution, &waiting.record()).await?;
    }
    until("all of it is read", async || Ok(setting.records.committed(&setting.name, &topic).await? == 60))
        .await?;
    assert_eq!(resumed(&db).await?, 30, "a repeat changes nothing");
    let shown = figure(client, &format!("stepwell_kafka_records_total{{topic=\"{topic}\"")).await?;
    assert!(shown >= 60.0, "{shown}");
    until("nothing is left to read", async || {
        Ok(figure(client, &format!("stepwell_kafka_lag_records{{topic=\"{topic}\"")).await? == 0.0)
    })
    .await?;
    assert!(figure(client, "stepwell_kafka_rebalances_total").await? >= 1.0);
    let last = Waiting::start(client, &db, "order").await?;
    setting.records.write_json(&topic, "last", &last.record()).await?;
    client.instance_is(&last.execution, "completed").await?;
    stop(hosts).await;
    assert_eq!(setting.records.committed(&setting.name, &topic).await?, 61, "the end notes the place");
    Ok(())
}

/// A callback and a record, in either order.
async fn either_may_come_first(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::shared()? else { return Ok(()) };
    let setting = Setting::new(broker)?;
    let topic = setting.topic("in");
    setting.records.make(&topic, 2).await?;
    let hosts = setting.hosts(&db).await?;
    let (client, other) = (&hosts[0].client, &hosts[hosts.len() - 1].client);
    client.deploy("both", workflow(&topic, true)).await?;
    let called = Waiting::start(client, &db, "both").await?;
    called.call_back(other).await?;
    assert_eq!(client.instance(&called.execution).await?["status"], "waiting");
    setting.records.write_json(&topic, "a", &called.record()).await?;
    client.instance_is(&called.execution, "completed").await?;

    let told = Waiting::start(client, &db, "both").await?;
    setting.records.write_json(&topic, "b", &told.record()).await?;
    let come = format!(
        "select count(*) from execution_wait_states where cast(execution_id as text) = '{}' \
         and kafka_event_data is not null",
        told.execution
    );
    until("the record has come", async || Ok(db.numbers(&come).await? == [1])).await?;
    assert_eq!(client.instance(&told.execution).await?["status"], "waiting");
    told.call_back(other).await?;
    let instance = client.instance_is(&told.execution, "completed").await?;
    assert_eq!(step(&instance, "wait")["output"]["kafka_event"], told.record());
    assert_eq!(step(&instance, "wait")["output"]["api_response"], json!({ "done": true }));
    stop(hosts).await;
    Ok(())
}

/// A record starts a workflow, once; also of a topic that is made only after the deployment.
async fn records_start_workflows(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::shared()? else { return Ok(()) };
    let setting = Setting::new(broker)?;
    let topic = setting.topic("new");
    let hosts = setting.hosts(&db).await?;
    let client = &hosts[0].client;
    let text = format!(
        "triggers:\n  - event: '{topic}'\n    filter: {{ kind: paid }}\n{}",
        stepwell_tests::host::one_task("ship", &[])
    );
    client.deploy("ship", text).await?;
    setting.records.make(&topic, 2).await?;
    for order in 0..10 {
        let kind = if order % 2 == 0 { "paid" } else { "cancelled" };
        setting
            .records
            .write_json(&topic, &order.to_string(), &json!({ "kind": kind, "order": order }))
            .await?;
    }
    until("all of it is read", async || Ok(setting.records.committed(&setting.name, &topic).await? == 10))
        .await?;
    assert_eq!(db.count("workflow_instances").await?, 5);
    stop(hosts).await;
    Ok(())
}

/// A record that cannot be read goes to the topic for dead letters and into the list; those behind it are not held up.
async fn what_cannot_be_read_is_a_dead_letter(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::shared()? else { return Ok(()) };
    let setting = Setting::new(broker)?;
    let topic = setting.topic("in");
    setting.records.make(&topic, 1).await?;
    let hosts = setting.hosts(&db).await?;
    let client = &hosts[0].client;
    client.deploy("order", workflow(&topic, false)).await?;
    let waiting = Waiting::start(client, &db, "order").await?;
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let poison: [&[u8]; 3] = [b"{ no json", &[0xff, 0xfe], deep.as_bytes()];
    for bytes in poison {
        setting.records.write(&topic, "bad", bytes, &[("from", "somewhere")]).await?;
    }
    setting.records.write_json(&topic, "good", &waiting.record()).await?;
    client.instance_is(&waiting.execution, "completed").await?;
    let found = setting.records.read(&setting.topic("dead"), 3).await?;
    for record in &found {
        assert_eq!(record.key.as_deref(), Some("bad"));
        assert_eq!(record.headers["from"], "somewhere");
        assert_eq!(record.headers["stepwell-topic"], topic);
        assert!(record.headers["stepwell-error"].contains("not JSON"), "{record:?}");
    }
    assert_eq!(found[0].payload, "{ no json", "as it was");
    let mut offsets: Vec<&str> =
        found.iter().map(|record| record.headers["stepwell-offset"].as_str()).collect();
    offsets.sort_unstable();
    assert_eq!(offsets, ["0", "1", "2"]);
    let listed =
        db.numbers("select count(*) from workflow_rejected_events where reason = 'unreadable'").await?;
    assert_eq!(listed, [3]);
    until("all of it is read", async || Ok(setting.records.committed(&setting.name, &topic).await? == 4))
        .await?;
    stop(hosts).await;
    Ok(())
}

/// Records belong to one tenant: that another tenant's execution is named in one does nothing.
async fn records_are_one_tenants(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::shared()? else { return Ok(()) };
    let setting = Setting::new(broker)?;
    let topic = setting.topic("in");
    setting.records.make(&topic, 1).await?;
    let hosts = setting.hosts(&db).await?;
    let other = hosts[0].client.tenant("acme");
    other.deploy("order", workflow(&topic, false)).await?;
    let waiting = Waiting::start(&other, &db, "order").await?;
    let bytes = waiting.record().to_string();
    setting.records.write(&topic, "a", bytes.as_bytes(), &[("stepwell-tenant", "acme")]).await?;
    until("it is read", async || Ok(setting.records.committed(&setting.name, &topic).await? == 1)).await?;
    assert_eq!(other.instance(&waiting.execution).await?["status"], "waiting");
    stop(hosts).await;

    let mut flags = setting.flags();
    flags.tenant_header = Some("stepwell-tenant".into());
    let host = crate::setting::start(&db, flags).await?;
    setting.records.write(&topic, "a", bytes.as_bytes(), &[("stepwell-tenant", "acme")]).await?;
    host.client.tenant("acme").instance_is(&waiting.execution, "completed").await?;
    host.stop().await;
    Ok(())
}

/// Records come compressed as their writers like it.
async fn compressed_records_are_read(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::shared()? else { return Ok(()) };
    let setting = Setting::new(broker)?;
    let topic = setting.topic("in");
    setting.records.make(&topic, 1).await?;
    let host = setting.host(&db).await?;
    host.client.deploy("order", workflow(&topic, false)).await?;
    for codec in ["gzip", "snappy", "lz4", "zstd"] {
        let waiting = Waiting::start(&host.client, &db, "order").await?;
        let mut record = waiting.record();
        // What is too small is written as it is.
        record["padding"] = "again and ".repeat(500).into();
        let writer = Records::compressing(&broker.address(), codec)?;
        writer.write_json(&topic, codec, &record).await?;
        host.client.instance_is(&waiting.execution, "completed").await?;
    }
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    compressed_records_are_read,
    records_resume_waits,
    either_may_come_first,
    records_start_workflows,
    what_cannot_be_read_is_a_dead_letter,
    records_are_one_tenants,
);
