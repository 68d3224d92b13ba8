//! `stepwell worker`: who polls for what, and who works.

use serde_json::json;

use super::Error;
use super::client::{Client, segment};
use super::page::Page;
use super::print::{Column, Output};

/// Where workers are.
const WORKERS: &str = "/api/v1/workers";
/// What the list of workers shows.
const COLUMNS: [Column; 8] = [
    ("WORKER", "/workerId"),
    ("KIND", "/workerType"),
    ("STATUS", "/status"),
    ("LAST SEEN", "/lastSeenAt"),
    ("COMPLETED", "/tasksCompleted"),
    ("FAILED", "/tasksFailed"),
    ("A MINUTE", "/completedPerMinute"),
    ("TYPES", "/taskTypes"),
];

/// See which workers poll for what, and let one go.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List workers, newest first: ACTIVE ones work, IDLE ones only poll, DEAD ones are silent.
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Show a worker.
    Show {
        /// The name that it polls with.
        name: String,
    },
    /// Say goodbye for a worker that is gone: the tasks that it holds are offered again at once.
    #[command(after_help = "Example:\n  stepwell worker goodbye n8n-worker-1")]
    Goodbye {
        /// The name that it polled with.
        name: String,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    match command {
        Command::List { page } => {
            let parameters = page.with(&[]);
            output.list(&client.get(WORKERS, &parameters).await?, &COLUMNS);
        }
        Command::Show { name } => {
            output.value(&client.get(&format!("{WORKERS}/{}", segment(&name)), &[]).await?);
        }
        Command::Goodbye { name } => {
            let answer = client.post(&format!("{WORKERS}/{}/goodbye", segment(&name)), &json!({})).await?;
            output.answer(&answer, format!("gone: {name}, tasks released: {}", answer["tasksReleased"]));
        }
    }
    Ok(())
}
