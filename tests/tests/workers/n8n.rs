//! A real n8n as a worker: it imports the example, polls, does the work, and completes or fails the task.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use stepwell_tests::command::{Host, source_root};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::Client;
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// What the example calls the host.
const WRITTEN: &str = "http://127.0.0.1:8080";
/// A copy of the example whose work cannot be done.
const BROKEN: &str = "stepwellBroken01";
/// How long a command of n8n may take; the first one makes its tables.
const COMMAND_MAX: Duration = Duration::from_secs(600);
/// Runs of the workflow, each of which waits for a task; far more than it takes.
const RUNS_MAX: u32 = 20;

#[test]
#[ignore = "takes an n8n of a gigabyte: make test-n8n"]
fn n8n_completes_a_task() {
    crate::run(async {
        if !installed()? {
            return Ok(());
        }
        let (Some(own), Some(theirs)) = (TestDb::postgres().await?, TestDb::postgres().await?) else {
            return Ok(());
        };
        n8n_works(&own, &theirs).await
    });
}

async fn n8n_works(own: &TestDb, theirs: &TestDb) -> Result<()> {
    let host = Host::start(&["--database", own.url()]).await;
    let client = Client::new(host.url.clone());
    let jira = source_root().join("examples/jira");
    client.deploy("jira", std::fs::read_to_string(jira.join("workflow.yaml"))?).await?;
    let context: Value = serde_json::from_str(&std::fs::read_to_string(jira.join("context.json"))?)?;
    let first = client.start("jira", context.clone()).await?;

    let n8n = N8n::new(theirs)?;
    let example = std::fs::read_to_string(source_root().join("examples/n8n/workflow.json"))?;
    let example: Value = serde_json::from_str(&example.replace(WRITTEN, &host.url))?;
    let id = example["id"].as_str().context("the example has an id")?.to_owned();
    let file = n8n.folder.path().join("workflows.json");
    std::fs::write(&file, json!([example, broken(&example)?]).to_string())?;
    n8n.run(&["import:workflow", &format!("--input={}", file.display())]).await?;

    // What goes wrong in n8n is reported, and the task is offered again.
    n8n.run(&["execute", &format!("--id={BROKEN}")]).await?;
    let tasks = client.get("/api/v1/tasks?limit=10").await?.expect(200)?;
    let task = &tasks["items"][0];
    assert_eq!((&task["status"], &task["retryCount"]), (&json!("PENDING"), &json!(1)), "{tasks}");
    let message = task["errorMessage"].as_str().unwrap_or_default();
    assert!(message.contains("node doesn't exist"), "{tasks}");

    // One task that was offered again, and one that is new.
    let second = client.start("jira", context.clone()).await?;
    for instance in [first, second] {
        n8n.run_until_completed(&client, &id, &instance).await?;
        completed(&client, &instance, &context).await?;
    }

    // As it runs for its users: published, and woken by its own schedule.
    n8n.run(&["publish:workflow", &format!("--id={id}")]).await?;
    let mut serving = n8n.serve()?;
    for _ in 0..2 {
        let instance = client.start("jira", context.clone()).await?;
        let ended = completed(&client, &instance, &context).await;
        let alive = serving.try_wait()?.is_none();
        ended.with_context(|| format!("by its schedule; n8n still runs: {alive}; it said {}", n8n.said()))?;
    }
    n8n.end(serving).await?;
    host.stop().await;
    Ok(())
}

/// An instance has ended with what n8n made of it.
async fn completed(client: &Client, id: &str, context: &Value) -> Result<()> {
    let instance = client.instance_is(id, "completed").await?;
    let task = client.get("/api/v1/tasks?limit=10").await?.expect(200)?;
    let tasks = task["items"].as_array().context("tasks")?;
    let task = tasks.iter().find(|task| task["workflowInstanceId"] == id).context("its task")?;
    assert_eq!((&task["status"], &task["workerId"]), (&json!("COMPLETED"), &json!("n8n")), "{task}");
    let task_id = task["id"].as_str().context("an id")?;
    let project = context["projectKey"].as_str().context("a project")?;
    let ticket = format!("{project}-{}", &task_id[task_id.len() - 4..]);
    assert_eq!(instance["context"]["jiraTicketId"], json!(ticket), "{instance}");
    let url = instance["context"]["jiraTicketUrl"].as_str().context("a link")?;
    assert!(
        url.starts_with(&format!("https://jira.example.com/browse/{project}?summary=The%20login")),
        "{url}"
    );
    Ok(())
}

/// The example with work that fails.
fn broken(example: &Value) -> Result<Value> {
    let mut broken = example.clone();
    broken["id"] = json!(BROKEN);
    broken["name"] = json!("broken");
    let nodes = broken["nodes"].as_array_mut().context("nodes")?;
    let work = nodes.iter_mut().find(|node| node["name"] == "Create Jira Ticket").context("the work")?;
    work["parameters"]["assignments"]["assignments"][0]["value"] =
        json!("={{ $('No Such Node').item.json.id }}");
    Ok(broken)
}

/// n8n with data of its own, which calls nobody but the host.
struct N8n {
    folder: TempDir,
    database: reqwest::Url,
}

impl N8n {
    fn new(db: &TestDb) -> Result<Self> {
        Ok(Self { folder: tempfile::tempdir()?, database: db.url().parse()? })
    }

    fn command(&self, args: &[&str]) -> Result<Command> {
        let mut command = Command::new("node");
        command.arg(program()).args(args).current_dir(self.folder.path());
        let ports = [free_port()?, free_port()?];
        let off = ["DIAGNOSTICS", "VERSION_NOTIFICATIONS", "TEMPLATES", "PERSONALIZATION", "HIRING_BANNER"];
        let off = off.iter().chain(&["COMMUNITY_PACKAGES", "LICENSE_AUTO_RENEW", "DYNAMIC_BANNERS"]);
        for name in off {
            command.env(format!("N8N_{name}_ENABLED"), "false");
        }
        command
            .env("N8N_USER_FOLDER", self.folder.path())
            .env("N8N_LISTEN_ADDRESS", "127.0.0.1")
            .env("N8N_PORT", ports[0].to_string())
            .env("N8N_RUNNERS_BROKER_PORT", ports[1].to_string())
            .env("DB_TYPE", "postgresdb")
            .env("DB_POSTGRESDB_HOST", self.database.host_str().context("a host")?)
            .env("DB_POSTGRESDB_PORT", self.database.port().context("a port")?.to_string())
            .env("DB_POSTGRESDB_USER", self.database.username())
            .env("DB_POSTGRESDB_DATABASE", self.database.path().trim_start_matches('/'))
            .env("NO_PROXY", "127.0.0.1")
            // Its helper processes go with it.
            .process_group(0)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        Ok(command)
    }

    /// Starts the server, which runs what was published.
    fn serve(&self) -> Result<Child> {
        let said = std::fs::File::create(self.folder.path().join("said"))?;
        Ok(self.command(&["start"])?.stdout(said.try_clone()?).stderr(said).spawn()?)
    }

    /// Ends the server, and with it the helpers that it started.
    async fn end(&self, mut serving: Child) -> Result<()> {
        if let Some(leader) = serving.id() {
            Command::new("kill").args(["-TERM", "--", &format!("-{leader}")]).status().await?;
        }
        if tokio::time::timeout(COMMAND_MAX, serving.wait()).await.is_err() {
            serving.kill().await?;
        }
        Ok(())
    }

    /// What the server said.
    fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("said")).unwrap_or_default()
    }

    /// Runs a command to its end.
    async fn run(&self, args: &[&str]) -> Result<()> {
        let output = tokio::time::timeout(COMMAND_MAX, self.command(args)?.output()).await;
        let output = output.with_context(|| format!("n8n {args:?} hangs"))??;
        let said = [output.stdout, output.stderr].concat();
        ensure!(output.status.success(), "n8n {args:?}: {}", String::from_utf8_lossy(&said));
        Ok(())
    }

    /// Runs a workflow until an instance has ended: a task that has failed is offered again only after a while.
    async fn run_until_completed(&self, client: &Client, workflow: &str, instance: &str) -> Result<()> {
        for _ in 0..RUNS_MAX {
            if client.instance(instance).await?["status"] == "completed" {
                return Ok(());
            }
            self.run(&["execute", &format!("--id={workflow}")]).await?;
        }
        Ok(())
    }
}

fn program() -> PathBuf {
    source_root().join("target/tools/n8n/node_modules/n8n/bin/n8n")
}

/// Installs n8n if it is not there. False if it cannot be had: the test is skipped, loudly, and fails where `CI` is
/// `true`.
fn installed() -> Result<bool> {
    let script = std::process::Command::new(source_root().join("scripts/install-n8n.sh")).output();
    let why = match script {
        Ok(output) if output.status.success() => return Ok(true),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    ensure!(!std::env::var("CI").is_ok_and(|ci| ci == "true"), "there is no n8n: {why}");
    // Not `eprintln`, which a passing test does not show.
    let _ = writeln!(std::io::stderr(), "SKIPPED, no n8n: {why}");
    Ok(false)
}

/// A port that nobody listens on, below those that systems give to outgoing connections.
fn free_port() -> Result<u16> {
    for _ in 0..100 {
        let port = rand::random_range(15_000..32_000);
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("there is no free port")
}
