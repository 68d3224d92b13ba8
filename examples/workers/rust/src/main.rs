//! A worker in Rust: takes tasks of the type `greet` and completes them with a greeting.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// A poll waits at the host for half of it.
const REQUEST_MAX: Duration = Duration::from_secs(60);
/// Before the same is asked again.
const PAUSE: Duration = Duration::from_secs(1);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let host = Host::from_environment()?;
    loop {
        for task in host.poll("greet").await? {
            handle(&host, &task).await?;
        }
    }
}

async fn handle(host: &Host, task: &Value) -> Result<()> {
    let (verb, body) = match work(task) {
        Ok(output) => ("complete", output),
        Err(error) => ("fail", json!({ "message": error.to_string(), "noRetry": true })),
    };
    let (status, answer) = host.report(task, verb, &body).await?;
    // 409: the lock has ended and another worker has the task, or it was cancelled.
    println!("{status} {verb} {} {}", body, answer["detail"].as_str().unwrap_or_default());
    Ok(())
}

/// What this worker is for.
fn work(task: &Value) -> Result<Value> {
    let name = task["input"]["name"].as_str().filter(|name| !name.is_empty());
    let name = name.context("there is no name to greet")?;
    Ok(json!({ "greeting": format!("Hello, {name}!") }))
}

/// Where tasks come from.
struct Host {
    url: String,
    token: Option<String>,
    worker: String,
    http: reqwest::Client,
}

impl Host {
    fn from_environment() -> Result<Self> {
        let variable = |name: &str| std::env::var(name).ok();
        // For hosts behind https: reqwest leaves the choice of ciphers to the program.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self {
            url: variable("STEPWELL_URL").unwrap_or_else(|| "http://127.0.0.1:8080".into()),
            token: variable("STEPWELL_TOKEN"),
            worker: variable("WORKER_ID").unwrap_or_else(|| format!("rust-{}", std::process::id())),
            http: reqwest::Client::builder().timeout(REQUEST_MAX).build()?,
        })
    }

    /// Waits for tasks of a type; they may be none.
    async fn poll(&self, task_type: &str) -> Result<Vec<Value>> {
        let path = format!("poll?taskType={task_type}&workerId={}&waitSeconds=30", self.worker);
        match self.ask(reqwest::Method::GET, &path, None).await? {
            (204, _) => Ok(Vec::new()),
            (200, Value::Array(tasks)) => Ok(tasks),
            (status, answer) => bail!("the host refuses: {status} {answer}"),
        }
    }

    /// Says how it went.
    async fn report(&self, task: &Value, verb: &str, body: &Value) -> Result<(u16, Value)> {
        let id = task["id"].as_str().context("a task has an id")?;
        let lock = task["lockToken"].as_str().context("a task has a lock token")?;
        self.ask(reqwest::Method::POST, &format!("{id}/{verb}"), Some((lock, body))).await
    }

    /// Asks again and again until there is an answer.
    async fn ask(
        &self,
        method: reqwest::Method,
        path: &str,
        report: Option<(&str, &Value)>,
    ) -> Result<(u16, Value)> {
        loop {
            let url = format!("{}/api/n8n/external-tasks/{path}", self.url);
            let mut request = self.http.request(method.clone(), url);
            if let Some(token) = &self.token {
                request = request.bearer_auth(token);
            }
            if let Some((lock, body)) = report {
                request = request.header("x-lock-token", lock).json(body);
            }
            match request.send().await {
                Ok(answer) if ![429, 502, 503, 504].contains(&answer.status().as_u16()) => {
                    let status = answer.status().as_u16();
                    return Ok((status, answer.json().await.unwrap_or_default()));
                }
                Ok(answer) => eprintln!("the host is busy: {}", answer.status()),
                Err(error) => eprintln!("no answer, trying again: {error}"),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
