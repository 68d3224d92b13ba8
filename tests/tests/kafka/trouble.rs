//! Brokers and hosts die in the middle. Nothing is lost, and nothing is done twice.

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell_tests::command::Host as Process;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, one_task, until};
use stepwell_tests::kafka;
use tempfile::TempDir;

use crate::setting::{Setting, start, stop};
use crate::waiting::{Waiting, resumed, workflow};

/// A broker that restarts keeps hosts waiting, and they go on by themselves; meanwhile they do all else.
async fn a_broker_restarts(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::own(false)? else { return Ok(()) };
    let setting = Setting::new(&broker)?;
    let topic = setting.topic("in");
    setting.records.make(&topic, 4).await?;
    let hosts = setting.hosts(&db).await?;
    let client = &hosts[0].client;
    client.deploy("order", workflow(&topic, false)).await?;
    let mut all = Vec::new();
    for _ in 0..20 {
        all.push(Waiting::start(client, &db, "order").await?);
    }
    for waiting in &all[..10] {
        setting.records.write_json(&topic, &waiting.execution, &waiting.record()).await?;
    }
    // Some of them may be under way.
    broker.crash();
    until("the host says that Kafka is away", async || {
        Ok(client.get("/readyz").await?.expect(200)?["kafka"] == "down")
    })
    .await?;
    all.push(Waiting::start(client, &db, "order").await?);
    broker.resume().map_err(anyhow::Error::msg)?;
    for waiting in &all[10..] {
        setting.records.write_json(&topic, &waiting.execution, &waiting.record()).await?;
    }
    for waiting in &all {
        client.instance_is(&waiting.execution, "completed").await?;
    }
    assert_eq!(resumed(&db).await?, 21);
    until("Kafka is up again", async || Ok(client.get("/readyz").await?.expect(200)?["kafka"] == "up"))
        .await?;
    stop(hosts).await;
    Ok(())
}

/// A host that ends while its broker is away ends soon.
async fn a_host_ends_without_its_broker(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::own(false)? else { return Ok(()) };
    let setting = Setting::new(&broker)?;
    let topic = setting.topic("in");
    setting.records.make(&topic, 1).await?;
    let data = tempfile::tempdir()?;
    let process = serve(&setting, &db, &data).await;
    let client = Client::new(process.url.clone());
    client.deploy("order", workflow(&topic, false)).await?;
    let waiting = Waiting::start(&client, &db, "order").await?;
    setting.records.write_json(&topic, "a", &waiting.record()).await?;
    client.instance_is(&waiting.execution, "completed").await?;
    broker.crash();
    process.stop().await;
    Ok(())
}

/// A host is killed while it takes records in: every wait is resumed, and every record starts its workflow once.
async fn a_host_is_killed(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::shared()? else { return Ok(()) };
    let setting = Setting::new(broker)?;
    let (topic, starts) = (setting.topic("in"), setting.topic("starts"));
    setting.records.make(&topic, 4).await?;
    setting.records.make(&starts, 4).await?;
    let data = [tempfile::tempdir()?, tempfile::tempdir()?];
    let victim = serve(&setting, &db, &data[0]).await;
    let mut survivor = if db.is_postgres() { Some(serve(&setting, &db, &data[1]).await) } else { None };
    let client = Client::new(survivor.as_ref().unwrap_or(&victim).url.clone());
    client.deploy("order", workflow(&topic, false)).await?;
    client.deploy("ship", format!("triggers:\n  - event: '{starts}'\n{}", one_task("ship", &[]))).await?;
    let mut all = Vec::new();
    for _ in 0..40 {
        all.push(Waiting::start(&client, &db, "order").await?);
    }
    for (turn, waiting) in all.iter().enumerate() {
        for order in 0..5 {
            let body = json!({ "order": turn * 5 + order });
            setting.records.write_json(&starts, &format!("{turn}/{order}"), &body).await?;
        }
        setting.records.write_json(&topic, &waiting.execution, &waiting.record()).await?;
        if turn == 10 {
            until("some have come", async || Ok(resumed(&db).await? > 0)).await?;
        }
        if turn == 20 {
            break;
        }
    }
    victim.kill().await;
    if survivor.is_none() {
        survivor = Some(serve(&setting, &db, &data[1]).await);
    }
    let survivor = survivor.context("a host")?;
    let client = Client::new(survivor.url.clone());
    for (turn, waiting) in all.iter().enumerate().skip(21) {
        for order in 0..5 {
            let body = json!({ "order": turn * 5 + order });
            setting.records.write_json(&starts, &format!("{turn}/{order}"), &body).await?;
        }
        setting.records.write_json(&topic, &waiting.execution, &waiting.record()).await?;
    }
    for waiting in &all {
        client.instance_is(&waiting.execution, "completed").await?;
    }
    until("every record is read", async || {
        Ok(setting.records.committed(&setting.name, &starts).await? == 200)
    })
    .await?;
    assert_eq!(resumed(&db).await?, 40);
    let started = db.numbers("select count(*) from workflow_instances where workflow_key = 'ship'").await?;
    assert_eq!(started, [200], "each record started one");
    survivor.stop().await;
    Ok(())
}

/// A wire with TLS and a password; without the right one nothing is read, and the host says so.
async fn a_protected_wire(db: TestDb) -> Result<()> {
    let Some(broker) = kafka::own(true)? else { return Ok(()) };
    let setting = Setting::new(&broker)?;
    let topic = setting.topic("in");
    setting.records.make(&topic, 1).await?;
    let secrets = tempfile::tempdir()?;
    for mechanism in ["plain", "scram-sha-256"] {
        for (password, word) in [("a wrong word", "down"), (kafka::PASSWORD, "up")] {
            let file = secrets.path().join("password");
            std::fs::write(&file, password)?;
            let mut flags = setting.flags();
            flags.brokers = broker.secure_address();
            flags.security = Some(stepwell::dispatch::kafka::Security::SaslSsl);
            flags.sasl = Some(match mechanism {
                "plain" => stepwell::dispatch::kafka::Mechanism::Plain,
                _ => stepwell::dispatch::kafka::Mechanism::ScramSha256,
            });
            flags.user = Some(kafka::USER.into());
            flags.password_file = Some(file);
            flags.ca = Some(broker.authority());
            let host = start(&db, flags).await?;
            until(&format!("with {mechanism} and '{password}' Kafka is {word}"), async || {
                Ok(host.client.get("/readyz").await?.expect(200)?["kafka"] == word)
            })
            .await?;
            if word == "up" {
                host.client.deploy("order", workflow(&topic, false)).await.ok();
                let waiting = Waiting::start(&host.client, &db, "order").await?;
                setting.records.write_json(&topic, "a", &waiting.record()).await?;
                host.client.instance_is(&waiting.execution, "completed").await?;
            }
            host.stop().await;
        }
    }
    Ok(())
}

async fn serve(setting: &Setting<'_>, db: &TestDb, data: &TempDir) -> Process {
    let (brokers, dead) = (setting.broker.address(), setting.topic("dead"));
    let more = [
        ["--database", db.url()],
        ["--kafka", &brokers],
        ["--kafka-group", &setting.name],
        ["--kafka-dead-letters", &dead],
    ];
    Process::on_sqlite(data, &more.concat()).await
}

stepwell_tests::on_both_databases!(
    a_broker_restarts,
    a_host_ends_without_its_broker,
    a_host_is_killed,
    a_protected_wire,
);
