//! Instances that wait for a record, and the records that they wait for.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, until};

/// A workflow that waits for a record of a topic, and for a callback too, if it shall.
pub(crate) fn workflow(topic: &str, callback: bool) -> String {
    let callback = if callback { "\n      events: [{ name: api_response, source: callback }]" } else { "" };
    format!(
        "steps:\n  - id: wait\n    type: wait_events\n    config:\n      apiCall: {{ enabled: false }}\n      \
         kafkaEvent: {{ topic: '{topic}' }}\n      timeout: 600{callback}\n"
    )
}

/// An instance that waits.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) execution: String,
    pub(crate) correlation: String,
}

impl Waiting {
    /// Starts one, and waits until its wait is written down.
    pub(crate) async fn start(client: &Client, db: &TestDb, workflow: &str) -> Result<Self> {
        let execution = client.start(workflow, json!({})).await?;
        let sql = format!(
            "select correlation_id from execution_wait_states where cast(execution_id as text) = '{execution}'"
        );
        until("it waits", async || Ok(db.texts(&sql).await?.len() == 1)).await?;
        let correlation = db.texts(&sql).await?.pop().context("a wait")?;
        Ok(Self { execution, correlation })
    }

    /// The record that it waits for.
    pub(crate) fn record(&self) -> Value {
        json!({ "execution_id": self.execution, "correlation_id": self.correlation, "amount": 12.5 })
    }

    /// Sends the callback that it waits for.
    pub(crate) async fn call_back(&self, client: &Client) -> Result<()> {
        let client =
            client.with("X-Execution-Id", &self.execution).with("X-Correlation-Id", &self.correlation);
        let answer =
            client.post("/api/internal/callbacks/external-service", &json!({ "done": true })).await?;
        anyhow::ensure!(answer.status == 200, "{answer:?}");
        Ok(())
    }
}

/// How often waits were resumed, and how many ended so.
pub(crate) async fn resumed(db: &TestDb) -> Result<i64> {
    let sql =
        "select count(*) from execution_wait_states where status = 'completed' and resumed_at is not null";
    Ok(db.numbers(sql).await?.first().copied().unwrap_or(0))
}
