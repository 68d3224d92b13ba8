//! `stepwell dead-letter`: tasks that failed for good.

use serde_json::json;

use super::client::{Client, segment};
use super::page::Page;
use super::print::{Output, cell};
use super::{Error, task};

/// Where dead letters are.
const LETTERS: &str = "/api/v1/dead-letters";

/// See tasks that failed for good, offer them again, or discard them.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List dead letters, newest first.
    List {
        /// Only of this task type.
        #[arg(long = "type")]
        task_type: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Show a dead letter, with its input and what went wrong.
    Show {
        /// The task's id.
        id: String,
    },
    /// Offer a dead letter again: the instance that failed with it goes on.
    #[command(after_help = "Example:\n  stepwell dead-letter retry ID --attempts 5")]
    Retry {
        /// The task's id.
        id: String,
        /// How many attempts it has; as the workflow says if absent.
        #[arg(long)]
        attempts: Option<u32>,
    },
    /// Take a dead letter off the list; its instance stays failed.
    #[command(after_help = "Example:\n  stepwell dead-letter discard ID --reason 'done by hand'")]
    Discard {
        /// The task's id.
        id: String,
        /// Why, for the instance's timeline.
        #[arg(long)]
        reason: Option<String>,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    match command {
        Command::List { task_type, page } => {
            let parameters = page.with(&[("taskType", task_type)]);
            let answer = client.get(LETTERS, &parameters).await?;
            output.list(&answer, &task::COLUMNS);
        }
        Command::Show { id } => {
            let letter = client.get(&format!("{LETTERS}/{}", segment(&id)), &[]).await?;
            output.value(&letter);
        }
        Command::Retry { id, attempts } => {
            let body = json!({ "attempts": attempts });
            let answer = client.post(&format!("{LETTERS}/{}/retry", segment(&id)), &body).await?;
            let attempts = cell(&answer, "/maxRetries");
            output.answer(&answer, format!("offered again: {id}, attempts: {attempts}"));
        }
        Command::Discard { id, reason } => {
            let body = json!({ "reason": reason });
            let answer = client.post(&format!("{LETTERS}/{}/discard", segment(&id)), &body).await?;
            output.answer(&answer, format!("discarded: {id}"));
        }
    }
    Ok(())
}
