//! `stepwell instance`: start, list, show, watch, cancel.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Client, segment};
use super::page::Page;
use super::print::{Output, cell, rows};
use super::{Error, input, watch};

/// Start, follow and cancel instances of workflows.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Start an instance of a workflow.
    #[command(after_help = "Examples:\n  \
        stepwell instance start order --context '{\"id\": 7}' --watch\n  \
        stepwell instance start order --context @order.json --idempotency-key order-7")]
    Start(Start),
    /// List instances, newest first.
    List {
        /// Only of this workflow.
        #[arg(long)]
        workflow: Option<String>,
        /// Only in this state: running, waiting, completed, failed, cancelled, paused, incident.
        #[arg(long)]
        status: Option<String>,
        /// Only with this business key.
        #[arg(long)]
        business_key: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Show an instance: its state, steps, context and timeline.
    Show {
        /// The instance's id.
        id: String,
    },
    /// Follow an instance until it ends: exit 0 if it completed, 1 if it did not.
    Watch {
        /// The instance's id.
        id: String,
    },
    /// Cancel an instance with its open tasks, timers and subscriptions.
    Cancel {
        /// The instance's id.
        id: String,
        /// Why, for the timeline.
        #[arg(long)]
        reason: Option<String>,
    },
}

/// What an instance is started with.
#[derive(Debug, clap::Args)]
pub(super) struct Start {
    /// The workflow's key.
    key: String,
    /// The context: a JSON object, @FILE, or - for stdin.
    #[arg(long, default_value = "{}", value_name = "JSON|@FILE|-")]
    context: String,
    /// What you call it.
    #[arg(long)]
    business_key: Option<String>,
    /// A repeat with the same key starts nothing new.
    #[arg(long)]
    idempotency_key: Option<String>,
    /// The version; the newest if absent.
    #[arg(long)]
    version: Option<u32>,
    /// Follow it until it ends.
    #[arg(long)]
    watch: bool,
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    match command {
        Command::Start(start) => run_start(start, client, output).await,
        Command::List { workflow, status, business_key, page } => {
            let parameters =
                page.with(&[("workflow", workflow), ("status", status), ("businessKey", business_key)]);
            let answer = client.get("/api/v1/instances", &parameters).await?;
            let columns = [
                ("ID", "/id"),
                ("WORKFLOW", "/workflowKey"),
                ("VERSION", "/workflowVersion"),
                ("STATUS", "/status"),
                ("BUSINESS KEY", "/businessKey"),
                ("STARTED", "/createdAt"),
            ];
            output.list(&answer, &columns);
            Ok(())
        }
        Command::Show { id } => show(&id, client, output).await,
        Command::Watch { id } => watch::until_ended(&id, client, output).await,
        Command::Cancel { id, reason } => {
            let path = format!("/api/v1/instances/{}/cancel", segment(&id));
            let answer = client.post(&path, &json!({ "reason": reason })).await?;
            output.answer(&answer, format!("cancelled: {id}"));
            Ok(())
        }
    }
}

/// Starts an instance; the answer has its `id`.
pub(super) async fn start(
    client: &Client,
    key: &str,
    body: &Value,
    idempotency_key: Option<&str>,
) -> Result<Value, Error> {
    let path = format!("/api/v1/workflows/{}/instances", segment(key));
    let mut request = client.request(Method::POST, &path).json(body);
    if let Some(key) = idempotency_key {
        request = request.header("idempotency-key", key);
    }
    client.call(request).await
}

async fn run_start(start: Start, client: &Client, output: &Output) -> Result<(), Error> {
    let context = input::json("--context", &start.context)?;
    let mut body = json!({ "context": context });
    if let Some(business_key) = &start.business_key {
        body["businessKey"] = json!(business_key);
    }
    if let Some(version) = start.version {
        body["version"] = json!(version);
    }
    let answer = self::start(client, &start.key, &body, start.idempotency_key.as_deref()).await?;
    let id = cell(&answer, "/id");
    if start.watch {
        output.line(format!("started: {id}"));
        return watch::until_ended(&id, client, output).await;
    }
    output.answer(&answer, format!("started: {id}"));
    output.line(format!("next: stepwell instance watch {id}"));
    Ok(())
}

async fn show(id: &str, client: &Client, output: &Output) -> Result<(), Error> {
    let path = format!("/api/v1/instances/{}", segment(id));
    let instance = client.get(&path, &[]).await?;
    if output.json {
        output.value(&instance);
        return Ok(());
    }
    let timeline = client.get(&format!("{path}/timeline"), &[]).await?;
    output.fields(&[
        ("id", cell(&instance, "/id")),
        (
            "workflow",
            format!("{}, version {}", cell(&instance, "/workflowKey"), cell(&instance, "/workflowVersion")),
        ),
        ("business key", cell(&instance, "/businessKey")),
        ("status", cell(&instance, "/status")),
        ("error", cell(&instance, "/error/message")),
        ("started", cell(&instance, "/createdAt")),
        ("ended", cell(&instance, "/endedAt")),
    ]);
    output.line("\nsteps");
    let steps = instance.get("steps").cloned().unwrap_or_default();
    output
        .list(&steps, &[("STEP", "/id"), ("TYPE", "/type"), ("STATUS", "/status"), ("ATTEMPT", "/attempt")]);
    output.line("\ntimeline");
    for entry in rows(&timeline) {
        output.line(watch::timeline_line(entry));
    }
    output.line("\ncontext");
    output.value(instance.get("context").unwrap_or(&Value::Null));
    Ok(())
}
