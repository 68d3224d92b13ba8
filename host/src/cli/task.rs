//! `stepwell task`: what a worker does, by hand.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Client, query, segment};
use super::page::Page;
use super::print::{Column, Output, cell};
use super::{Error, input};

/// Where workers poll and answer.
const TASKS: &str = "/api/n8n/external-tasks";
/// What lists of tasks show.
pub(super) const COLUMNS: [Column; 7] = [
    ("ID", "/id"),
    ("TYPE", "/taskType"),
    ("STATUS", "/status"),
    ("PRIORITY", "/priority"),
    ("WORKER", "/workerId"),
    ("ATTEMPTS", "/retryCount"),
    ("ERROR", "/errorMessage"),
];

/// Work on external tasks by hand, as a worker would.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Take pending tasks under a lock.
    #[command(
        after_help = "Example:\n  stepwell task poll --type n8n-jira-create-ticket --worker me --wait 30"
    )]
    Poll {
        /// The task type, a pattern such as 'n8n-jira-*', or several with commas.
        #[arg(long = "type")]
        task_type: String,
        /// Who you are; `complete` and `fail` are checked against it.
        #[arg(long)]
        worker: Option<String>,
        /// How many at most.
        #[arg(long, default_value_t = 1)]
        max: u32,
        /// How many seconds to wait for one.
        #[arg(long, default_value_t = 0)]
        wait: u64,
    },
    /// Complete a task that you hold.
    #[command(after_help = "Example:\n  \
        stepwell task complete ID --output '{\"result\": {\"ticketId\": \"PROJ-1\"}}'")]
    Complete {
        /// The task's id.
        id: String,
        /// The result: JSON, @FILE, or - for stdin.
        #[arg(long, default_value = "{}", value_name = "JSON|@FILE|-")]
        output: String,
        /// Who you are.
        #[arg(long)]
        worker: Option<String>,
        /// The token that `poll` gave you.
        #[arg(long)]
        lock_token: Option<String>,
    },
    /// Say that a task went wrong: it is offered again, or becomes a dead letter.
    Fail {
        /// The task's id.
        id: String,
        /// What went wrong.
        #[arg(long)]
        message: String,
        /// A code for the workflow's `onError`.
        #[arg(long)]
        code: Option<String>,
        /// Another attempt would not help.
        #[arg(long)]
        no_retry: bool,
        /// Who you are.
        #[arg(long)]
        worker: Option<String>,
        /// The token that `poll` gave you.
        #[arg(long)]
        lock_token: Option<String>,
    },
    /// Give a task back that you hold: the next poll gets it, and no attempt is spent.
    Unlock {
        /// The task's id.
        id: String,
        /// Who you are.
        #[arg(long)]
        worker: Option<String>,
        /// The token that `poll` gave you.
        #[arg(long)]
        lock_token: Option<String>,
    },
    /// Say that you still work on a task: its lock lasts longer, and you hear whether to go on.
    #[command(after_help = "Example:\n  stepwell task heartbeat ID --checkpoint '{\"page\": 3}'")]
    Heartbeat {
        /// The task's id.
        id: String,
        /// What the next attempt shall know: JSON, @FILE, or - for stdin.
        #[arg(long, value_name = "JSON|@FILE|-")]
        checkpoint: Option<String>,
        /// Who you are.
        #[arg(long)]
        worker: Option<String>,
        /// The token that `poll` gave you.
        #[arg(long)]
        lock_token: Option<String>,
    },
    /// Explain why a task is not being handed out.
    Why {
        /// The task's id.
        id: String,
    },
    /// List tasks, newest first.
    List {
        /// Only of this type.
        #[arg(long = "type")]
        task_type: Option<String>,
        /// Only in this state: PENDING, LOCKED, COMPLETED, FAILED, CANCELLED.
        #[arg(long)]
        status: Option<String>,
        /// Only of this instance.
        #[arg(long)]
        instance: Option<String>,
        #[command(flatten)]
        page: Page,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    match command {
        Command::Poll { task_type, worker, max, wait } => {
            let tasks = poll(client, &task_type, worker, max, wait).await?;
            print_polled(&tasks, output);
        }
        Command::Complete { id, output: result, worker, lock_token } => {
            let result = input::json("--output", &result)?;
            let answer = answer(client, &id, "complete", &result, worker, lock_token).await?;
            output.answer(&answer, format!("completed: {id}"));
        }
        Command::Fail { id, message, code, no_retry, worker, lock_token } => {
            let mut body = json!({ "message": message });
            if let Some(code) = code {
                body["code"] = json!(code);
            }
            if no_retry {
                body["noRetry"] = json!(true);
            }
            let answer = answer(client, &id, "fail", &body, worker, lock_token).await?;
            let status = Some(cell(&answer, "/status")).filter(|status| !status.is_empty());
            let status = status.map(|status| format!(", now {status}")).unwrap_or_default();
            output.answer(&answer, format!("failed: {id}{status}"));
        }
        Command::Unlock { id, worker, lock_token } => {
            let answer = answer(client, &id, "unlock", &json!({}), worker, lock_token).await?;
            output.answer(&answer, format!("given back: {id}"));
        }
        Command::Heartbeat { id, checkpoint, worker, lock_token } => {
            let checkpoint = checkpoint.map(|text| input::json("--checkpoint", &text)).transpose()?;
            let body = json!({ "checkpoint": checkpoint });
            let answer = answer(client, &id, "heartbeat", &body, worker, lock_token).await?;
            output.answer(&answer, cell(&answer, "/status"));
        }
        Command::Why { id } => {
            let answer = client.get(&format!("/api/v1/tasks/{}/why", segment(&id)), &[]).await?;
            let sentence = format!("{}: {}", cell(&answer, "/code"), cell(&answer, "/message"));
            output.answer(&answer, sentence);
        }
        Command::List { task_type, status, instance, page } => {
            let parameters =
                page.with(&[("taskType", task_type), ("status", status), ("instance", instance)]);
            let answer = client.get("/api/v1/tasks", &parameters).await?;
            output.list(&answer, &COLUMNS);
        }
    }
    Ok(())
}

/// Takes tasks; an empty list if there are none.
pub(super) async fn poll(
    client: &Client,
    task_type: &str,
    worker: Option<String>,
    max: u32,
    wait_seconds: u64,
) -> Result<Value, Error> {
    let parameters = query(&[
        ("taskType", Some(task_type.to_owned())),
        ("workerId", worker),
        ("maxTasks", Some(max.to_string())),
        ("waitSeconds", Some(wait_seconds.to_string())),
    ]);
    let request = client.request(Method::GET, &format!("{TASKS}/poll")).query(&parameters);
    let tasks = client.call_within(request, Duration::from_secs(wait_seconds)).await?;
    Ok(if tasks.is_null() { json!([]) } else { tasks })
}

/// Answers for a task: `complete`, `fail`, `heartbeat` or `unlock`.
pub(super) async fn answer(
    client: &Client,
    id: &str,
    verb: &str,
    body: &Value,
    worker: Option<String>,
    lock_token: Option<String>,
) -> Result<Value, Error> {
    let parameters = query(&[("workerId", worker), ("lockToken", lock_token)]);
    let request = client
        .request(Method::POST, &format!("{TASKS}/{}/{verb}", segment(id)))
        .query(&parameters)
        .json(body);
    client.call(request).await
}

fn print_polled(tasks: &Value, output: &Output) {
    if output.json {
        return output.value(tasks);
    }
    let tasks = tasks.as_array().map_or(&[][..], Vec::as_slice);
    if tasks.is_empty() {
        return output.line("(no task)");
    }
    for task in tasks {
        output.fields(&[
            ("id", cell(task, "/id")),
            ("type", cell(task, "/taskType")),
            ("lock token", cell(task, "/lockToken")),
            ("lock ends", cell(task, "/lockExpiresAt")),
            ("input", cell(task, "/input")),
        ]);
        output.line(format!(
            "next: stepwell task complete {} --output '{{\"result\": {{}}}}'",
            cell(task, "/id")
        ));
    }
}
