//! What the tests of this surface share.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use stepwell_tests::host::{Answer, Client};

/// A path below `/engine-rest`.
pub fn path(rest: &str) -> String {
    format!("/engine-rest{rest}")
}

/// PUT with a JSON body.
pub async fn put(client: &Client, rest: &str, body: &Value) -> Result<Answer> {
    client.with("content-type", "application/json").send("PUT", &path(rest), body.to_string()).await
}

/// POST with a JSON body.
pub async fn post(client: &Client, rest: &str, body: &Value) -> Result<Answer> {
    client.post(&path(rest), body).await
}

/// GET.
pub async fn get(client: &Client, rest: &str) -> Result<Value> {
    client.get(&path(rest)).await?.expect(200)
}

/// Fetches tasks of a topic at once.
pub async fn fetch(client: &Client, topic: &str, worker: &str) -> Result<Vec<Value>> {
    let topics = json!([{ "topicName": topic, "lockDuration": 60_000 }]);
    fetch_topics(client, worker, topics, json!({})).await
}

/// Fetches with any topics and options.
pub async fn fetch_topics(
    client: &Client,
    worker: &str,
    topics: Value,
    options: Value,
) -> Result<Vec<Value>> {
    let mut body = json!({ "workerId": worker, "maxTasks": 10, "topics": topics });
    for (name, value) in options.as_object().context("options")? {
        body[name] = value.clone();
    }
    let answer = post(client, "/external-task/fetchAndLock", &body).await?;
    let kind = answer.headers.get("content-type").and_then(|value| value.to_str().ok());
    ensure!(kind == Some("application/json"), "clients compare this exactly: {kind:?}");
    Ok(answer.expect(200)?.as_array().context("an array")?.clone())
}

/// Waits for one task of a topic.
pub async fn fetch_one(client: &Client, topic: &str, worker: &str) -> Result<Value> {
    let topics = json!([{ "topicName": topic, "lockDuration": 60_000 }]);
    let options = json!({ "maxTasks": 1, "asyncResponseTimeout": 60_000 });
    fetch_topics(client, worker, topics, options).await?.pop().context("a task came")
}

/// A task's id.
pub fn id(task: &Value) -> &str {
    task["id"].as_str().unwrap_or_default()
}

/// Checks status, type and message of an error.
pub fn refused(answer: Answer, status: u16, kind: &str, message: &str) -> Result<()> {
    let content =
        answer.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    ensure!(content == "application/json", "{content}");
    ensure!(answer.body["message"] == message, "expected {message:?}, got {}", answer.body);
    ensure!(answer.body["type"] == kind, "expected {kind}, got {}", answer.body);
    ensure!(answer.body.get("code").is_some(), "{}", answer.body);
    answer.expect(status).map(drop)
}
