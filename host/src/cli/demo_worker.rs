//! The demo's worker: what an n8n workflow would do, through the public API.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::print::{Output, cell};
use super::{Client, Error, task};

/// What it polls for: the type in the Jira workflow.
pub(super) const TASK_TYPE: &str = "n8n-jira-create-ticket";
/// Its name.
const WORKER: &str = "demo-worker";
/// How long one poll is parked.
const WAIT_SECONDS: u64 = 10;
/// The wait after a poll that did not get through.
const AGAIN: Duration = Duration::from_millis(300);

/// Polls, works and answers until it is stopped. Only this instance's task is its own.
pub(super) async fn run(
    client: Client,
    instance: String,
    output: Output,
    stop: CancellationToken,
) -> Result<(), Error> {
    loop {
        let tasks = tokio::select! {
            tasks = task::poll(&client, TASK_TYPE, Some(WORKER.into()), 1, WAIT_SECONDS) => tasks,
            () = stop.cancelled() => return Ok(()),
        };
        match tasks {
            Ok(tasks) => {
                for task in tasks.as_array().into_iter().flatten() {
                    work(&client, task, &instance, &output).await?;
                }
            }
            Err(error) => {
                tracing::debug!(%error, "the demo's worker polls again");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}

async fn work(client: &Client, task: &Value, instance: &str, output: &Output) -> Result<(), Error> {
    let id = cell(task, "/id");
    let token = Some(cell(task, "/lockToken")).filter(|token| !token.is_empty());
    let say = |text: String| output.line(format!("  worker: {text}"));
    if cell(task, "/workflowInstanceId") != instance {
        // On a shared server: a made-up ticket must not end somebody's real task.
        say(format!("task {id} belongs to another instance; it is offered again when its lock ends"));
        return Ok(());
    }
    say(format!("polled task {id}: {}", cell(task, "/input")));
    task::answer(client, &id, "heartbeat", &json!({}), Some(WORKER.into()), token.clone()).await?;
    say("sent a heartbeat, and creates the ticket".to_owned());
    let project = task.pointer("/input/projectKey").and_then(Value::as_str).unwrap_or("DEMO");
    let ticket = format!("{project}-1");
    let result = json!({
        "result": { "ticketId": ticket, "url": format!("https://jira.example.com/browse/{ticket}") }
    });
    task::answer(client, &id, "complete", &result, Some(WORKER.into()), token).await?;
    say(format!("completed it with {}", result["result"]));
    Ok(())
}
