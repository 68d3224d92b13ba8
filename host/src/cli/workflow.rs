//! `stepwell workflow`: deploy, list, show.

use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::client::{Client, query, segment};
use super::page::Page;
use super::print::{Output, cell};
use super::{Error, input};

/// Deploy and look at workflows.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Deploy a workflow from a YAML or JSON file; a changed one becomes a new version.
    #[command(after_help = "Example:\n  stepwell workflow deploy examples/jira/workflow.yaml --key jira")]
    Deploy {
        /// The file, or - for stdin.
        file: String,
        /// The workflow's key; the document's own `key` if absent.
        #[arg(long)]
        key: Option<String>,
        /// Only check it, and show when its triggers would run.
        #[arg(long)]
        dry_run: bool,
    },
    /// List workflows, each with its newest version.
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Show a workflow as it was deployed.
    Show {
        /// The workflow's key.
        key: String,
        /// The newest if absent.
        #[arg(long)]
        version: Option<u32>,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    match command {
        Command::Deploy { file, key, dry_run } => {
            let source = input::file(&file)?;
            let (answer, created) = send(client, &source, key, dry_run).await?;
            let made = match (dry_run, created) {
                (true, _) => "checked, not deployed",
                (false, true) => "deployed",
                (false, false) => "unchanged",
            };
            let key = cell(&answer, "/key");
            let version = cell(&answer, "/version");
            output.answer(&answer, format!("{made}: {key}, version {version}"));
            runs_ahead(&answer, output);
            if !dry_run {
                output.line(format!("next: stepwell instance start {key} --context '{{}}' --watch"));
            }
        }
        Command::List { page } => {
            let parameters = page.with(&[]);
            let answer = client.get("/api/v1/workflows", &parameters).await?;
            let columns =
                [("KEY", "/key"), ("VERSION", "/version"), ("NAME", "/name"), ("DEPLOYED", "/createdAt")];
            output.list(&answer, &columns);
        }
        Command::Show { key, version } => {
            let parameters = query(&[("version", version.map(|n| n.to_string()))]);
            let answer = client.get(&format!("/api/v1/workflows/{}", segment(&key)), &parameters).await?;
            if output.json {
                output.value(&answer);
            } else {
                output.line(format!("# {}, version {}", cell(&answer, "/key"), cell(&answer, "/version")));
                output.line(cell(&answer, "/source").trim_end());
            }
        }
    }
    Ok(())
}

/// When each trigger runs next.
fn runs_ahead(answer: &Value, output: &Output) {
    for trigger in answer["triggers"].as_array().into_iter().flatten() {
        let runs = trigger["upcoming"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let (id, cron) = (cell(trigger, "/id"), cell(trigger, "/cron"));
        output.line(format!("{id} ({cron}, {}) runs at:", cell(trigger, "/timeZone")));
        runs.for_each(|run| output.line(format!("  {run}")));
    }
}

/// Deploys a document; what it is now, and whether that is a new version.
pub(super) async fn deploy(
    client: &Client,
    source: &str,
    key: Option<String>,
) -> Result<(Value, bool), Error> {
    send(client, source, key, false).await
}

async fn send(
    client: &Client,
    source: &str,
    key: Option<String>,
    dry_run: bool,
) -> Result<(Value, bool), Error> {
    let kind = if source.trim_start().starts_with('{') { "application/json" } else { "application/yaml" };
    let request = client
        .request(Method::POST, "/api/v1/workflows")
        .query(&query(&[("key", key), ("dryRun", dry_run.then(|| "true".to_owned()))]))
        .header("content-type", kind)
        .body(source.to_owned());
    let response = client.open(request).await?;
    let created = response.status() == StatusCode::CREATED;
    Ok((client.read(response).await?, created))
}
