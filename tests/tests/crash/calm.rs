//! A client for quiet times, when hosts are up: what it asks must be answered.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use stepwell_tests::command::PATIENCE;
use tokio::time::Instant;

/// Talks to one host that is up.
pub struct Calm {
    url: String,
    http: reqwest::Client,
}

impl Calm {
    /// A client of a host.
    pub fn new(url: String, http: &reqwest::Client) -> Self {
        Self { url, http: http.clone() }
    }

    /// Deploys a workflow.
    pub async fn deploy(&self, key: &str, source: &str) -> Result<()> {
        let request =
            self.http.post(format!("{}/api/v1/workflows?key={key}", self.url)).body(source.to_owned());
        let response = request.send().await?;
        let status = response.status();
        ensure!(status == 201, "{key}: {status} {}\n{source}", response.text().await?);
        Ok(())
    }

    /// What a path shows; asked again while the host is busy with what lies behind it.
    pub async fn get(&self, path: &str) -> Result<Value> {
        let end = Instant::now() + PATIENCE;
        loop {
            let why = match self.once(path).await {
                Ok(body) => return Ok(body),
                Err(why) => why,
            };
            if Instant::now() > end {
                return Err(why).with_context(|| path.to_owned());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn once(&self, path: &str) -> Result<Value> {
        let response = self.http.get(format!("{}{path}", self.url)).timeout(PATIENCE).send().await?;
        let status = response.status();
        let text = response.text().await?;
        ensure!(status == 200, "{status}: {text}");
        Ok(serde_json::from_str(&text)?)
    }

    /// The ids of all instances of a workflow.
    pub async fn instances(&self, key: &str) -> Result<HashSet<String>> {
        let mut found = HashSet::new();
        let mut after = String::new();
        loop {
            let page = self.get(&format!("/api/v1/instances?workflow={key}&limit=500{after}")).await?;
            for row in page["items"].as_array().context("a page")? {
                found.insert(row["id"].as_str().context("an id")?.to_owned());
            }
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return Ok(found),
            }
        }
    }
}
