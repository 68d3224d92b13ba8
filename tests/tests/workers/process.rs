//! One worker of the crowd: a process of its own, which may be killed at any instruction.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::note::{self, Book, Note};

/// The type of every task.
pub const TASK_TYPE: &str = "crowd";
/// Short, so that what a killed worker held is soon free again. A slow machine lets locks end that need not have: then
/// reports are refused, and nothing is wrong.
const LOCK: Duration = Duration::from_secs(4);
/// What tells a process that it is a worker: seed, book and hosts.
const VARIABLE: &str = "TEST_WORKER";
/// A request without an answer for so long is made again.
const REQUEST_MAX: Duration = Duration::from_secs(60);

/// Starts a worker: this very program, told to be one.
pub fn spawn(book: &Path, hosts: &[String], seed: u64) -> Result<Child> {
    let told = json!({ "seed": seed, "book": book, "hosts": hosts }).to_string();
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["process::be_a_worker", "--exact", "--ignored", "--test-threads=1"]).env(VARIABLE, told);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    Ok(command.spawn()?)
}

/// Not a test: what a process does that `spawn` started.
#[test]
#[ignore = "what worker processes run"]
fn be_a_worker() {
    let Ok(told) = std::env::var(VARIABLE) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { Worker::new(&told).unwrap().work().await.unwrap() });
}

struct Worker {
    random: StdRng,
    book: Book,
    hosts: Vec<String>,
    name: String,
    http: reqwest::Client,
}

impl Worker {
    fn new(told: &str) -> Result<Self> {
        let told: Value = serde_json::from_str(told)?;
        let mut random = StdRng::seed_from_u64(told["seed"].as_u64().context("a seed")?);
        let hosts = told["hosts"].as_array().context("hosts")?.iter();
        Ok(Self {
            book: Book::open(&PathBuf::from(told["book"].as_str().context("a book")?))?,
            hosts: hosts.filter_map(Value::as_str).map(str::to_owned).collect(),
            name: format!("worker-{:x}", random.random::<u32>()),
            http: stepwell_tests::command::client().build()?,
            random,
        })
    }

    /// Works until it is killed.
    async fn work(mut self) -> Result<()> {
        loop {
            let path = format!(
                "/api/n8n/external-tasks/poll?taskType={TASK_TYPE}&workerId={}&maxTasks={}&waitSeconds=5\
                 &lockDurationSeconds={}",
                self.name,
                self.random.random_range(1..=4),
                LOCK.as_secs()
            );
            let Some((200, Value::Array(tasks))) = self.ask("GET", &path, None, &Value::Null).await else {
                continue;
            };
            for task in &tasks {
                self.note_hand_out(task)?;
            }
            for task in &tasks {
                self.handle(task).await?;
            }
        }
    }

    fn note_hand_out(&mut self, task: &Value) -> Result<()> {
        let text = |name: &str| task[name].as_str().map(str::to_owned).context("a text");
        self.book.write(&Note::Got {
            task: text("id")?,
            token: text("lockToken")?,
            locked_at: note::time(&task["lockedAt"]).context("lockedAt")?,
            expires_at: note::time(&task["lockExpiresAt"]).context("lockExpiresAt")?,
            got_at: note::now(),
        })
    }

    /// Works on a task, sometimes for too long, and says how it went.
    async fn handle(&mut self, task: &Value) -> Result<()> {
        let id = task["id"].as_str().context("id")?;
        let token = task["lockToken"].as_str().context("lockToken")?;
        let millis = u64::try_from(LOCK.as_millis())?;
        let effort =
            if self.random.random_bool(0.005) { millis + 500 } else { self.random.random_range(0..10) };
        tokio::time::sleep(Duration::from_millis(effort)).await;
        if self.random.random_bool(0.1) {
            let path = format!("/api/n8n/external-tasks/{id}/heartbeat");
            let answer = self.ask("POST", &path, Some(token), &json!({})).await;
            let until = answer.and_then(|(_, body)| note::time(&body["lockExpiresAt"]));
            if let Some(expires_at) = until {
                self.book.write(&Note::Extended { token: token.into(), expires_at })?;
            }
        }
        match self.random.random_range(0..100) {
            0..4 => {
                self.report(id, token, "fail", &json!({ "message": "again", "retryDelaySeconds": 0 })).await
            }
            4..6 => self.report(id, token, "fail", &json!({ "message": "never", "noRetry": true })).await,
            _ => self.report(id, token, "complete", &json!({ "by": self.name })).await,
        }
    }

    async fn report(&mut self, id: &str, token: &str, verb: &str, body: &Value) -> Result<()> {
        let path = format!("/api/n8n/external-tasks/{id}/{verb}");
        loop {
            let (token, verb) = (token.to_owned(), verb.to_owned());
            self.book.write(&Note::Sent { token: token.clone(), verb: verb.clone(), at: note::now() })?;
            if let Some((status, body)) = self.ask("POST", &path, Some(&token), body).await {
                let code = body["code"].as_str().unwrap_or_default().to_owned();
                return self.book.write(&Note::Told { token, verb, status, code });
            }
        }
    }

    /// Asks any host; none if it gave no answer that counts.
    async fn ask(
        &mut self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &Value,
    ) -> Option<(u16, Value)> {
        let host = &self.hosts[self.random.random_range(0..self.hosts.len())];
        let request = self.http.request(method.parse().ok()?, format!("{host}{path}")).timeout(REQUEST_MAX);
        let request = token.into_iter().fold(request, |request, token| request.header("x-lock-token", token));
        let request = if body.is_null() { request } else { request.json(body) };
        let answer = async {
            let response = request.send().await.ok()?;
            Some((response.status().as_u16(), response.bytes().await.ok()?))
        };
        match answer.await {
            Some((status, body)) if status != 429 && status != 503 => {
                Some((status, serde_json::from_slice(&body).unwrap_or_default()))
            }
            _ => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                None
            }
        }
    }
}
