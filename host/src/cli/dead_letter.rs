//! `stepwell dead-letter`: tasks that failed for good.

use super::client::{Client, query};
use super::print::Output;
use super::{Error, task};

/// See tasks that failed for good.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List dead letters, newest first.
    List {
        /// Only of this task type.
        #[arg(long = "type")]
        task_type: Option<String>,
        /// How many.
        #[arg(long)]
        limit: Option<u32>,
        /// The cursor that the page before ended with.
        #[arg(long)]
        after: Option<String>,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    let Command::List { task_type, limit, after } = command;
    let parameters =
        query(&[("taskType", task_type), ("limit", limit.map(|n| n.to_string())), ("after", after)]);
    let answer = client.get("/api/v1/dead-letters", &parameters).await?;
    output.list(&answer, &task::COLUMNS);
    Ok(())
}
