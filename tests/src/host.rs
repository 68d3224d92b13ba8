//! A host in this process, with everything that a real one has, and a client that talks to it over HTTP.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use stepwell::boot::{self, Running};
use stepwell::settings::{Flags, Settings};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::db::TestDb;

/// How long a condition may take to come true: a slow machine must not fail a test.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A running host.
pub struct Host {
    /// Talks to it, as the tenant `default`.
    pub client: Client,
    running: Running,
    plugins: TempDir,
}

impl Host {
    /// A host on a database.
    pub async fn start(db: &TestDb) -> Result<Self> {
        Self::start_with(db, |_| {}).await
    }

    /// A host with settings of its own.
    pub async fn start_with(db: &TestDb, change: impl FnOnce(&mut Settings)) -> Result<Self> {
        let plugins = tempfile::tempdir()?;
        let mut settings = Settings::without_file(Flags {
            listen: Some("127.0.0.1:0".into()),
            database: Some(db.url().to_owned()),
            // Compiled plugins are shared by all tests: compiling them is most of what a start takes.
            data: Some(target().join("test-data")),
            plugins: Some(plugins.path().to_owned()),
            ..Flags::default()
        })
        .map_err(|error| anyhow::anyhow!("{error}"))?;
        change(&mut settings);
        let running = boot::start(&settings).await?;
        let client = Client::new(running.url());
        Ok(Self { client, running, plugins })
    }

    /// Drops a plugin into the host's folder, and waits until it serves the type.
    pub async fn add_plugin(&self, type_name: &str, component: &[u8]) -> Result<()> {
        let digest = stepwell::domain::Digest::of(component).to_string();
        // A name that is taken over at once: the host must not see half a file.
        let half = self.plugins.path().join(format!("{digest}.part"));
        std::fs::write(&half, component)?;
        std::fs::rename(&half, self.plugins.path().join(format!("{digest}.wasm")))?;
        until(&format!("{type_name} is served by {digest}"), async || {
            let shown = self.client.get(&format!("/api/v1/plugins/{type_name}")).await?;
            Ok(shown.body["digest"] == digest)
        })
        .await
    }

    /// Waits until so many polls are parked.
    pub async fn parked_polls(&self, count: usize) -> Result<()> {
        until(&format!("{count} polls are parked"), async || {
            Ok(self.client.get("/healthz").await?.expect(200)?["parkedPolls"] == count)
        })
        .await
    }

    /// Stops the host in order.
    pub async fn stop(self) {
        self.running.stop().await;
    }
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target")
}

/// Waits until a condition holds.
pub async fn until(what: &str, mut condition: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !condition().await.with_context(|| format!("while waiting until {what}"))? {
        ensure!(Instant::now() < deadline, "gave up waiting until {what}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// Talks to a host.
#[derive(Clone, Debug)]
pub struct Client {
    /// The host's address.
    pub url: String,
    http: reqwest::Client,
    headers: Vec<(String, String)>,
}

/// An HTTP answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body; null if there is none, text if it is not JSON.
    pub body: Value,
    /// The headers.
    pub headers: reqwest::header::HeaderMap,
}

impl Answer {
    /// The body, if the status is the expected one.
    pub fn expect(self, status: u16) -> Result<Value> {
        ensure!(self.status == status, "expected {status}, got {} with {}", self.status, self.body);
        Ok(self.body)
    }

    /// Checks a problem's status and code.
    pub fn expect_problem(self, status: u16, code: &str) -> Result<Value> {
        let kind = self.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        ensure!(kind == "application/problem+json", "not a problem: {} {kind} {}", self.status, self.body);
        ensure!(self.body["code"] == code, "expected {code}, got {}", self.body);
        ensure!(self.body["type"] == format!("urn:stepwell:problem:{code}"), "{}", self.body);
        ensure!(self.body["status"] == status, "{}", self.body);
        ensure!(self.body["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{}", self.body);
        self.expect(status)
    }
}

impl Client {
    /// A client of the tenant `default`, without a token.
    pub fn new(url: String) -> Self {
        Self {
            url,
            http: crate::command::client().build().expect("a client can be made"),
            headers: Vec::new(),
        }
    }

    /// The same with one more header.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name.into(), value.into()));
        client
    }

    /// The same for a tenant.
    #[must_use]
    pub fn tenant(&self, tenant: &str) -> Self {
        self.with("x-stepwell-tenant", tenant)
    }

    /// A request that is not sent yet.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = method.parse().unwrap_or(reqwest::Method::GET);
        let request = self.http.request(method, format!("{}{path}", self.url)).timeout(PATIENCE);
        self.headers.iter().fold(request, |request, (name, value)| request.header(name, value))
    }

    /// Sends a request with a body of bytes.
    pub async fn send(&self, method: &str, path: &str, body: impl Into<reqwest::Body>) -> Result<Answer> {
        answer(self.request(method, path).body(body)).await
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Result<Answer> {
        answer(self.request("GET", path)).await
    }

    /// POST with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        answer(self.request("POST", path).json(body)).await
    }

    /// Deploys a workflow.
    pub async fn deploy(&self, key: &str, source: impl Into<String>) -> Result<Value> {
        self.send("POST", &format!("/api/v1/workflows?key={key}"), source.into()).await?.expect(201)
    }

    /// Starts an instance and returns its id.
    pub async fn start(&self, key: &str, context: Value) -> Result<String> {
        let path = format!("/api/v1/workflows/{key}/instances");
        let started = self.post(&path, &json!({ "context": context })).await?.expect(201)?;
        Ok(started["id"].as_str().context("an id")?.to_owned())
    }

    /// An instance.
    pub async fn instance(&self, id: &str) -> Result<Value> {
        self.get(&format!("/api/v1/instances/{id}")).await?.expect(200)
    }

    /// Waits until an instance has a state; fails as soon as it can no longer have it.
    pub async fn instance_is(&self, id: &str, status: &str) -> Result<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let instance = self.instance(id).await?;
            let now = instance["status"].as_str().unwrap_or_default().to_owned();
            if now == status {
                return Ok(instance);
            }
            ensure!(
                !["completed", "failed", "cancelled"].contains(&now.as_str()),
                "{now} for good: {instance}"
            );
            ensure!(Instant::now() < deadline, "still {now}: {instance}");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Polls with any parameters; the tasks, none for a 204.
    pub async fn poll_with(&self, query: &str) -> Result<Vec<Value>> {
        let polled = self.get(&format!("/api/n8n/external-tasks/poll?{query}")).await?;
        match polled.status {
            204 => Ok(Vec::new()),
            _ => Ok(polled.expect(200)?.as_array().context("an array")?.clone()),
        }
    }

    /// Waits for one task of a type.
    pub async fn poll(&self, task_type: &str, worker: &str) -> Result<Value> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let query = format!("taskType={task_type}&workerId={worker}&waitSeconds=30");
            if let Some(task) = self.poll_with(&query).await?.pop() {
                return Ok(task);
            }
        }
        bail!("no task of type {task_type} came")
    }

    /// Reports on a task as its holder: `complete`, `fail` or `heartbeat`.
    pub async fn report(&self, task: &Value, verb: &str, body: &Value) -> Result<Answer> {
        let (id, token) =
            (task["id"].as_str().context("id")?, task["lockToken"].as_str().context("lockToken")?);
        self.with("x-lock-token", token).post(&format!("/api/n8n/external-tasks/{id}/{verb}"), body).await
    }

    /// Completes a task as its holder.
    pub async fn complete(&self, task: &Value, output: &Value) -> Result<Value> {
        self.report(task, "complete", output).await?.expect(200)
    }

    /// Waits for a task of a type and completes it.
    pub async fn work(&self, task_type: &str, output: &Value) -> Result<Value> {
        let task = self.poll(task_type, "worker").await?;
        self.complete(&task, output).await
    }

    /// A task as operators see it.
    pub async fn task(&self, id: &Value) -> Result<Value> {
        self.get(&format!("/api/v1/tasks/{}", id.as_str().context("an id")?)).await?.expect(200)
    }
}

async fn answer(request: reqwest::RequestBuilder) -> Result<Answer> {
    let response = request.send().await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await?;
    let body = match text.as_str() {
        "" => Value::Null,
        json => serde_json::from_str(json).unwrap_or(Value::String(text)),
    };
    Ok(Answer { status, body, headers })
}

/// The step of an instance.
pub fn step<'a>(instance: &'a Value, id: &str) -> &'a Value {
    let steps = instance["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    steps.iter().find(|step| step["id"] == id).unwrap_or(&Value::Null)
}

/// A workflow of one external task; `config` is YAML lines of its configuration, `key: value`.
pub fn one_task(task_type: &str, config: &[&str]) -> String {
    let lines: String = config.iter().map(|line| format!("\n      {line}")).collect();
    format!(
        "steps:\n  - id: work\n    type: EXTERNAL_TASK\n    config:\n      taskType: {task_type}{lines}\n"
    )
}
