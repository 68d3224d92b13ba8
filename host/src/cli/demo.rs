//! `stepwell demo`: the Jira workflow from start to end, with a worker of its own.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::print::{Output, cell};
use super::temporary::TemporaryFolder;
use super::{Client, Error, Global, demo_worker, instance, signals, watch, workflow};
use crate::settings::{Flags, Settings};
use crate::{boot, telemetry};

const WORKFLOW: &str = include_str!("../../../examples/jira/workflow.yaml");
const CONTEXT: &str = include_str!("../../../examples/jira/context.json");
const KEY: &str = "jira-demo";

/// Show an external task from start to end.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --server it runs a private host on a free port, with SQLite in a temporary folder, and leaves
nothing behind. Exit 0 only if the instance completed.

Examples:
  stepwell demo
  stepwell demo --server http://127.0.0.1:8080")]
pub(super) struct Args {
    /// Which log lines of the private host are shown.
    #[arg(long, env = "STEPWELL_LOG", default_value = "warn", value_name = "FILTER")]
    log: String,
}

/// Runs it.
pub(super) async fn run(args: Args, global: &Global, output: &Output) -> Result<(), Error> {
    if global.server.is_some() {
        return play(&Client::new(global)?, output).await;
    }
    let stop = signals::watch()?;
    let folder = TemporaryFolder::new("demo")?;
    let settings = Settings::without_file(private(&folder))?;
    // The warning that the host is open is for hosts that stay.
    let filter = format!("{},stepwell::boot=error", args.log);
    let telemetry = telemetry::start(&telemetry::Options {
        filter,
        format: telemetry::LogFormat::Text,
        otlp: None,
        node_id: "demo".into(),
    })?;
    output.line("starting a private host …");
    let host = tokio::select! {
        started = boot::start(&settings) => started?,
        () = stop.cancelled() => return Err(interrupted()),
    };
    let client = Client::to(&host.url(), None, None)?;
    let result = tokio::select! {
        played = play(&client, output) => played,
        () = stop.cancelled() => Err(interrupted()),
    };
    host.stop().await;
    telemetry.flush().await;
    result
}

async fn play(client: &Client, output: &Output) -> Result<(), Error> {
    output.line(format!("server: {}\n", client.base()));
    output.line(format!("the workflow:\n\n{WORKFLOW}"));
    let (deployed, _) = workflow::deploy(client, WORKFLOW, Some(KEY.into())).await?;
    output.line(format!("deployed: {KEY}, version {}", cell(&deployed, "/version")));
    let context: Value = serde_json::from_str(CONTEXT).map_err(|error| Error::config(error.to_string()))?;
    let started = instance::start(client, KEY, &json!({ "context": context }), None).await?;
    let id = cell(&started, "/id");
    output.line(format!("started: instance {id} with {context}\n\nthe timeline:"));

    let stop = CancellationToken::new();
    let worker = tokio::spawn(demo_worker::run(client.clone(), id.clone(), *output, stop.clone()));
    let followed = tokio::select! {
        followed = watch::follow(&id, client, output) => followed,
        failed = worker_failed(worker) => Err(failed),
    };
    stop.cancel();
    let ended = followed?;
    let status = cell(&ended, "/status");
    let context = ended.get("context").cloned().unwrap_or_default();
    if output.json {
        output.value(&json!({ "instance": id, "status": status, "context": context }));
    } else {
        output.line(format!("\ninstance {id}: {status}\nthe final context:"));
        output.value(&context);
    }
    let mapped = context.get("jiraTicketId").is_some() && context.get("jiraTicketUrl").is_some();
    if status == "completed" && mapped {
        return Ok(());
    }
    Err(Error::refused("demo_failed", format!("the instance is {status}; the log has more with --log info")))
}

/// Waits for the worker to fail; for ever if it does not.
async fn worker_failed(worker: tokio::task::JoinHandle<Result<(), Error>>) -> Error {
    match worker.await {
        Ok(Err(error)) => error,
        Ok(Ok(())) | Err(_) => std::future::pending().await,
    }
}

fn private(folder: &TemporaryFolder) -> Flags {
    Flags {
        listen: Some("127.0.0.1:0".into()),
        data: Some(folder.path().to_owned()),
        database: Some(format!("sqlite:{}", folder.path().join("demo.db").display())),
        ..Flags::default()
    }
}

fn interrupted() -> Error {
    Error::refused("interrupted", "interrupted before the demo had ended")
}
