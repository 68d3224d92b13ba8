//! What the requests are sent to: a host with workflows, instances, tasks, incidents and tokens.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, PATIENCE, one_task};

use super::routes::{self, Route};

/// Instances that are there at the beginning.
const INSTANCES: usize = 60;
/// Tasks of them that are held.
const HELD: usize = 30;

/// A host, and names of what is on it.
pub struct World {
    host: Host,
    pub http: reqwest::Client,
    pub routes: Vec<Route>,
    pub instances: Vec<String>,
    /// Id and lock token.
    pub tasks: Vec<(String, String)>,
    pub tokens: Vec<String>,
}

impl World {
    pub async fn begin(db: &TestDb) -> Result<Self> {
        let host = Host::start_with(db, |settings| {
            // Polls answer at once: the wait itself is tested elsewhere.
            settings.limits.poll_wait_seconds_max = 0;
        })
        .await?;
        let client = &host.client;
        let document = client.get("/openapi.json").await?.expect(200)?;
        let mapped = "outputMapping: {id: $.result.id, all: '$..*'}";
        client.deploy("one", one_task("work", &[mapped, "retries: 1000"])).await?;
        client.deploy("two", one_task("other", &["input: {x: '${workflow.context.a}'}"])).await?;
        let mut instances = Vec::new();
        for _ in 0..INSTANCES {
            instances.push(client.start("one", json!({ "a": 1 })).await?);
        }
        let query =
            format!("taskType=work&workerId=w&waitSeconds=0&maxTasks={HELD}&lockDurationSeconds=100000");
        let polled = client.poll_with(&query).await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let tasks: Vec<_> = polled.iter().map(|task| (text(&task["id"]), text(&task["lockToken"]))).collect();
        ensure!(tasks.len() == HELD, "{polled:?}");
        let token =
            client.post("/api/v1/tokens", &json!({ "name": "t", "role": "worker" })).await?.expect(201)?;
        let http =
            stepwell_tests::command::client().timeout(PATIENCE).pool_idle_timeout(Duration::from_secs(5));
        let tokens = vec![text(&token["id"])];
        Ok(Self { http: http.build()?, routes: routes::all(&document), instances, tasks, tokens, host })
    }

    pub fn client(&self) -> &Client {
        &self.host.client
    }

    /// The host is healthy, and a workflow goes from its beginning to its end.
    pub async fn still_works(&self) -> Result<()> {
        let client = self.client();
        client.get("/healthz").await?.expect(200)?;
        client.get("/readyz").await?.expect(200)?;
        let client = client.tenant("after");
        client.deploy("after", one_task("after", &[])).await?;
        let id = client.start("after", json!({})).await?;
        let tasks = client.poll_with("taskType=after&workerId=w&waitSeconds=0").await?;
        client.complete(tasks.first().context("a task")?, &json!({ "done": true })).await?;
        client.instance_is(&id, "completed").await?;
        Ok(())
    }

    pub async fn end(self) {
        self.host.stop().await;
    }
}
