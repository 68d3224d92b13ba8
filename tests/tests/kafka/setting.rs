//! What every test here begins with: a broker, topics of its own, hosts in a group of their own.

use anyhow::Result;
use stepwell::settings::{Flags, KafkaFlags, Settings};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host};
use stepwell_tests::kafka::Broker;
use stepwell_tests::records::Records;
use uuid::Uuid;

/// A broker as one test sees it.
pub(crate) struct Setting<'a> {
    pub(crate) broker: &'a Broker,
    pub(crate) records: Records,
    /// The test's own consumer group; also what its topics begin with.
    pub(crate) name: String,
}

impl<'a> Setting<'a> {
    pub(crate) fn new(broker: &'a Broker) -> Result<Self> {
        let name = format!("t{}", &Uuid::now_v7().simple().to_string()[16..]);
        Ok(Self { broker, records: Records::at(&broker.address())?, name })
    }

    /// A topic of this test's own.
    pub(crate) fn topic(&self, name: &str) -> String {
        format!("{}.{name}", self.name)
    }

    /// The settings of Kafka for this test's hosts.
    pub(crate) fn flags(&self) -> KafkaFlags {
        KafkaFlags {
            brokers: Some(self.broker.address()),
            group: Some(self.name.clone()),
            dead_letters: Some(self.topic("dead")),
            ..KafkaFlags::default()
        }
    }

    /// A host with Kafka.
    pub(crate) async fn host(&self, db: &TestDb) -> Result<Host> {
        start(db, self.flags()).await
    }

    /// Two hosts in one group, or one where the database takes only one.
    pub(crate) async fn hosts(&self, db: &TestDb) -> Result<Vec<Host>> {
        let mut hosts = vec![self.host(db).await?];
        if db.is_postgres() {
            hosts.push(self.host(db).await?);
        }
        Ok(hosts)
    }
}

/// A host with settings of Kafka.
pub(crate) async fn start(db: &TestDb, flags: KafkaFlags) -> Result<Host> {
    let settled = Settings::without_file(Flags { kafka: flags, ..Flags::default() });
    let kafka = settled.map_err(|error| anyhow::anyhow!("{error}"))?.kafka;
    Host::start_with(db, |settings| settings.kafka = kafka).await
}

/// Ends all of them in order.
pub(crate) async fn stop(hosts: Vec<Host>) {
    for host in hosts {
        host.stop().await;
    }
}

/// A figure of `/metrics`: the sum over the series whose line begins so.
pub(crate) async fn figure(client: &Client, begin: &str) -> Result<f64> {
    let shown = client.get("/metrics").await?.expect(200)?;
    let lines = shown.as_str().unwrap_or_default().lines().filter(|line| line.starts_with(begin));
    Ok(lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum())
}
