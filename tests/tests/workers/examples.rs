//! The workers of `examples/workers`, each as a process of its own on a real host.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use stepwell_tests::command::{Host, example_worker, source_root};
use stepwell_tests::host::{Client, until};
use tokio::process::{Child, Command};

#[test]
fn the_one_in_shell_works() {
    if there_is("curl") {
        crate::run(greets(Command::new(example("shell/worker.sh")), true));
    }
}

#[test]
fn the_one_in_python_works() {
    if there_is("python3") {
        let mut command = Command::new("python3");
        command.arg(example("python/worker.py"));
        crate::run(greets(command, true));
    }
}

/// Told to stop while its poll waits, it says so, and ends.
#[test]
fn the_one_in_python_says_goodbye() {
    if there_is("python3") {
        crate::run(async {
            let data = tempfile::tempdir()?;
            let host = Host::on_sqlite(&data, &[]).await;
            let client = Client::new(host.url.clone());
            let mut command = Command::new("python3");
            command.arg(example("python/worker.py"));
            let mut child = start(&mut command, &host, &tempfile::NamedTempFile::new()?)?;
            let shown = "/api/v1/workers/example-1";
            until("it polls", async || Ok(client.get(shown).await?.status == 200)).await?;
            let id = child.id().context("it runs")?.to_string();
            Command::new("kill").args(["-TERM", &id]).status().await?;
            ensure!(child.wait().await?.success());
            assert_eq!(client.get(shown).await?.expect(200)?["status"], "DEAD");
            host.stop().await;
            Ok(())
        });
    }
}

#[test]
fn the_one_in_rust_works() {
    crate::run(greets(Command::new(example_worker()), true));
}

#[test]
fn the_one_in_javascript_works() {
    crate::run(async {
        let Some(folder) = with_client()? else { return Ok(()) };
        let mut command = Command::new("node");
        command.arg(folder.join("worker.js"));
        // What a failure with no attempts left means is the other surface's own matter.
        greets(command, false).await
    });
}

/// A worker greets who has a name, and fails a task without one.
async fn greets(mut worker: Command, fails: bool) -> Result<()> {
    let data = tempfile::tempdir()?;
    let host = Host::on_sqlite(&data, &[]).await;
    let client = Client::new(host.url.clone());
    let source = std::fs::read_to_string(example("workflow.yaml"))?;
    client.deploy("greet", source).await?;
    let before = client.start("greet", json!({ "name": "Ada" })).await?;
    let log = tempfile::NamedTempFile::new()?;
    let mut child = start(&mut worker, &host, &log)?;
    let said = || std::fs::read_to_string(log.path()).unwrap_or_default();
    greeted(&client, &before, "Ada").await.with_context(said)?;
    let while_it_runs = client.start("greet", json!({ "name": "Bob" })).await?;
    greeted(&client, &while_it_runs, "Bob").await.with_context(said)?;
    if fails {
        let nameless = client.start("greet", json!({ "name": "" })).await?;
        let instance = ended(&client, &nameless, "failed").await.with_context(said)?;
        assert!(instance["error"].to_string().contains("no name to greet"), "{instance}");
    }
    ensure!(child.try_wait()?.is_none(), "the worker has ended by itself: {}", said());
    child.kill().await?;
    host.stop().await;
    Ok(())
}

fn start(worker: &mut Command, host: &Host, log: &tempfile::NamedTempFile) -> Result<Child> {
    worker
        .env("STEPWELL_URL", &host.url)
        .env("WORKER_ID", "example-1")
        .env("no_proxy", "127.0.0.1")
        .env("NO_PROXY", "127.0.0.1")
        .env_remove("STEPWELL_TOKEN")
        .stdin(Stdio::null())
        .stdout(log.reopen()?)
        .stderr(log.reopen()?)
        .kill_on_drop(true);
    Ok(worker.spawn()?)
}

async fn greeted(client: &Client, id: &str, name: &str) -> Result<()> {
    let instance = ended(client, id, "completed").await?;
    assert_eq!(instance["context"]["greeting"], json!(format!("Hello, {name}!")), "{instance}");
    let tasks = client.get("/api/v1/tasks?limit=100").await?.expect(200)?;
    let tasks = tasks["items"].as_array().context("tasks")?;
    let task = tasks.iter().find(|task| task["workflowInstanceId"] == id).context("its task")?;
    assert_eq!((&task["workerId"], &task["retryCount"]), (&json!("example-1"), &json!(0)), "{task}");
    Ok(())
}

async fn ended(client: &Client, id: &str, status: &str) -> Result<Value> {
    let mut instance = Value::Null;
    until(&format!("{id} is {status}"), async || {
        instance = client.instance(id).await?;
        Ok(["completed", "failed", "cancelled"].iter().any(|end| instance["status"] == *end))
    })
    .await
    .with_context(|| instance.to_string())?;
    ensure!(instance["status"] == status, "{instance}");
    Ok(instance)
}

fn example(path: &str) -> PathBuf {
    source_root().join("examples/workers").join(path)
}

/// Whether a program can be had; if not, the test is skipped, loudly, and fails where `CI` is `true`.
fn there_is(program: &str) -> bool {
    let found = std::process::Command::new(program).arg("--version").output();
    found.is_ok() || skipped(&format!("{program} is missing"))
}

fn skipped(why: &str) -> bool {
    assert!(!std::env::var("CI").is_ok_and(|ci| ci == "true"), "an example cannot be run: {why}");
    // Not `eprintln`, which a passing test does not show.
    let _ = writeln!(std::io::stderr(), "SKIPPED, an example is not tested: {why}");
    false
}

/// A copy of the example in JavaScript with its client beside it; none if that cannot be had.
fn with_client() -> Result<Option<PathBuf>> {
    let folder = source_root().join("target/tools/javascript-worker");
    std::fs::create_dir_all(&folder)?;
    for file in ["package.json", "worker.js"] {
        std::fs::copy(example("javascript").join(file), folder.join(file))?;
    }
    let arguments = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
    let installed = std::process::Command::new("npm").args(arguments).current_dir(&folder).output();
    let why = match installed {
        Ok(output) if output.status.success() => return Ok(Some(folder)),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    skipped(&why);
    Ok(None)
}
