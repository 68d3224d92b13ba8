//! Camunda's own clients for JavaScript and Python, unchanged, against a host on each database.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use stepwell_tests::command::source_root;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, one_task, until};
use tokio::process::{Child, Command};

use crate::support::{get, path, post, put};

/// Two steps, one after the other.
const TYPES: &str = "
steps:
  - { id: set, type: EXTERNAL_TASK, config: { taskType: LANG-types }, outputMapping: { mapped: onlyHere } }
  - { id: echo, type: EXTERNAL_TASK, config: { taskType: LANG-echo, priority: 2 } }
";
/// An error that leads to another step.
const ERROR: &str = "
steps:
  - { id: pay, type: EXTERNAL_TASK, config: { taskType: LANG-business-error }, onError: { NO_CREDIT: remind } }
  - { id: remind, type: EXTERNAL_TASK, config: { taskType: LANG-some, input: { wanted: '${steps.pay.error.message}' } } }
";

async fn the_javascript_client_works(db: TestDb) -> Result<()> {
    let Some(installed) = installed() else { return Ok(()) };
    let host = Host::start(&db).await?;
    let client = &host.client;
    for (key, source) in [("types", TYPES), ("error", ERROR)] {
        client.deploy(key, source.replace("LANG", "js")).await?;
    }
    for topic in ["js-flaky", "js-gives-up", "js-extends", "js-unlocks", "js-some"] {
        client.deploy(topic, one_task(topic, &[])).await?;
    }
    let mut node = Command::new("node");
    node.arg("--input-type=module").current_dir(installed.join("camunda-js")).stdin(Stdio::piped());
    let worker = Worker::start(node, client, include_str!("worker.mjs")).await?;

    let types = begin(client, "types", &json!({ "businessKey": "order 7" })).await?;
    let variables = variables(&worker, client, &types).await?;
    ensure!(variables["gone"].is_null() && variables["onlyHere"].is_null(), "{variables}");
    ensure!(variables["mapped"]["value"] == "local", "a mapping sees local variables: {variables}");
    let seen = &variables["seen"]["value"];
    let kinds = json!({
        "aNull": "null", "aBoolean": "boolean", "anInteger": "integer", "aLong": "long", "aDouble": "double",
        "aString": "string", "aDate": "date", "aJson": "json", "aFile": "file", "aShort": "short",
        "aSmallLong": "long", "someBytes": "bytes", "anXml": "xml", "anObject": "object", "mapped": "string",
    });
    let expected = json!({
        "types": kinds, "aNull": null, "aBoolean": true, "anInteger": 42, "aLong": 9_000_000_000_i64, "aDouble": 1.5,
        "aString": "words", "sameDate": true, "aJson": { "list": [1, "two", null] }, "aShort": 7,
        "someBytes": "AAEC", "anXml": "<a/>", "anObject": "{\"name\":\"x\"}", "objectTypeName": "org.example.Thing",
        "file": { "name": "hello.txt", "mimetype": "text/plain", "encoding": "UTF-8", "content": "hello from a file" },
        "businessKey": "order 7", "retries": null, "priority": 3,
    });
    assert_eq!(seen, &expected);

    let flaky = begin(client, "js-flaky", &json!({})).await?;
    let shown = self::variables(&worker, client, &flaky).await?;
    assert_eq!(shown["lastError"]["value"], "attempt with 2, at line 1");

    for (key, name, value) in
        [("js-extends", "extended", json!(true)), ("js-unlocks", "givenBack", json!(true))]
    {
        let id = begin(client, key, &json!({})).await?;
        assert_eq!(self::variables(&worker, client, &id).await?[name]["value"], value, "{key}");
    }
    let some = json!({ "variables": { "wanted": { "value": 1 }, "other": { "value": 2 } } });
    let some = begin(client, "js-some", &some).await?;
    assert_eq!(self::variables(&worker, client, &some).await?["got"]["value"], json!(["wanted"]));

    error_goes_to_its_step(&worker, client).await?;
    a_given_up_task_waits_for_an_operator(client).await?;
    worker.stop().await?;
    host.stop().await;
    Ok(())
}

async fn the_python_client_works(db: TestDb) -> Result<()> {
    let Some(installed) = installed() else { return Ok(()) };
    let host = Host::start(&db).await?;
    let client = &host.client;
    for (key, source) in [("types", TYPES), ("error", &ERROR.replace("LANG-some", "py-picky"))] {
        client.deploy(key, source.replace("LANG", "py")).await?;
    }
    for topic in ["py-flaky", "py-picky"] {
        client.deploy(topic, one_task(topic, &[])).await?;
    }
    let mut python = Command::new(installed.join("camunda-python/bin/python"));
    python.arg("-").stdin(Stdio::piped());
    let worker = Worker::start(python, client, include_str!("worker.py")).await?;

    let types = begin(client, "types", &json!({ "businessKey": "order 7" })).await?;
    let variables = variables(&worker, client, &types).await?;
    assert_eq!(variables["mapped"]["value"], "local");
    let expected = json!({
        "aBoolean": true, "anInteger": 42, "aLong": 9_000_000_000_i64, "aDouble": 1.5, "aString": "words",
        "aList": [1, "two", null], "aDict": { "a": { "b": 1 } }, "aTyped": 7, "aJson": { "x": [1] },
        "aDate": "2026-11-16T01:55:23.456+0000", "nullIsThere": true, "businessKey": "order 7",
        "file": { "type": "File", "value": null, "valueInfo": { "filename": "hello.txt" } }, "content": "aGVsbG8=\n",
    });
    assert_eq!(variables["seen"]["value"], expected);

    let flaky = begin(client, "py-flaky", &json!({})).await?;
    assert_eq!(self::variables(&worker, client, &flaky).await?["lastError"]["value"], "attempt with 2");

    // A filter by a variable: the red one is left alone.
    let of = |colour: &str| json!({ "variables": { "colour": { "value": colour } } });
    let red = begin(client, "py-picky", &of("red")).await?;
    let blue = begin(client, "py-picky", &of("blue")).await?;
    assert_eq!(self::variables(&worker, client, &blue).await?["picked"]["value"], "blue");
    assert_eq!(client.instance(&red).await?["status"], "waiting");

    let id = begin(client, "error", &of("blue")).await?;
    let shown = self::variables(&worker, client, &id).await?;
    assert_eq!((&shown["amount"]["value"], &shown["picked"]["value"]), (&json!(12), &json!("blue")));
    worker.stop().await?;
    host.stop().await;
    Ok(())
}

async fn error_goes_to_its_step(worker: &Worker, client: &Client) -> Result<()> {
    let id = begin(client, "error", &json!({})).await?;
    let shown = variables(worker, client, &id).await?;
    assert_eq!(shown["amount"]["value"], 12);
    assert_eq!(shown["got"]["value"], json!(["wanted"]), "the next step got the error's message");
    Ok(())
}

async fn a_given_up_task_waits_for_an_operator(client: &Client) -> Result<()> {
    let id = begin(client, "js-gives-up", &json!({})).await?;
    client.instance_is(&id, "incident").await?;
    let tasks = get(client, &format!("/external-task?processInstanceId={id}&noRetriesLeft=true")).await?;
    assert_eq!((&tasks[0]["retries"], &tasks[0]["errorMessage"]), (&json!(0), &json!("no use")));
    let incidents = get(client, &format!("/incident?processInstanceId={id}")).await?;
    assert_eq!(incidents[0]["incidentType"], "failedExternalTask");
    let task = tasks[0]["id"].as_str().context("an id")?;
    // Offered again, the worker gives it up again: a new incident.
    put(client, &format!("/external-task/{task}/retries"), &json!({ "retries": 1 })).await?.expect(204)?;
    until("there is another incident", async || {
        let now = get(client, &format!("/incident?processInstanceId={id}")).await?;
        Ok(now.as_array().is_some_and(|now| now.len() == 1) && now[0]["id"] != incidents[0]["id"])
    })
    .await
}

/// Starts an instance as a client of Camunda would.
async fn begin(client: &Client, key: &str, body: &Value) -> Result<String> {
    let started = post(client, &format!("/process-definition/key/{key}/start"), body).await?.expect(200)?;
    Ok(started["id"].as_str().context("an id")?.to_owned())
}

/// The variables of an instance, once it has completed.
async fn variables(worker: &Worker, client: &Client, id: &str) -> Result<Value> {
    let done = client.instance_is(id, "completed").await;
    done.with_context(|| format!("the worker said: {}", worker.said()))?;
    client.get(&path(&format!("/process-instance/{id}/variables"))).await?.expect(200)
}

/// A worker, as a process of its own.
struct Worker {
    child: Child,
    log: tempfile::NamedTempFile,
}

impl Worker {
    async fn start(mut command: Command, client: &Client, script: &str) -> Result<Self> {
        use tokio::io::AsyncWriteExt as _;
        let made = client
            .post("/api/v1/tokens", &json!({ "name": "worker", "role": "worker" }))
            .await?
            .expect(201)?;
        let log = tempfile::NamedTempFile::new()?;
        command
            .env("STEPWELL_URL", &client.url)
            .env("STEPWELL_TOKEN", made["token"].as_str().context("a token")?);
        command.env("no_proxy", "127.0.0.1").env("NO_PROXY", "127.0.0.1");
        command.stdout(log.reopen()?).stderr(log.reopen()?).kill_on_drop(true);
        let mut child = command.spawn()?;
        child.stdin.take().context("a standard input")?.write_all(script.as_bytes()).await?;
        Ok(Self { child, log })
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.log.path()).unwrap_or_default()
    }

    /// It is there to the end, and had nothing to complain about.
    async fn stop(mut self) -> Result<()> {
        ensure!(self.child.try_wait()?.is_none(), "the worker has ended: {}", self.said());
        self.child.kill().await?;
        ensure!(!self.said().contains("error"), "{}", self.said());
        Ok(())
    }
}

/// Where the clients are; installed if they are not there. None if they cannot be had: the test is skipped, loudly, and
/// fails where `CI` is `true`.
fn installed() -> Option<&'static PathBuf> {
    static TOOLS: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let tools = TOOLS.get_or_init(|| {
        let root = source_root();
        match std::process::Command::new(root.join("scripts/install-camunda-clients.sh")).output() {
            Ok(output) if output.status.success() => Ok(root.join("target/tools")),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    });
    match tools {
        Ok(tools) => Some(tools),
        Err(why) if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
            panic!("there are no clients of Camunda: {why}")
        }
        Err(why) => {
            // Not `eprintln`, which a passing test does not show.
            let _ = writeln!(std::io::stderr(), "SKIPPED, no clients of Camunda: {why}");
            None
        }
    }
}

stepwell_tests::on_both_databases!(the_javascript_client_works, the_python_client_works);
