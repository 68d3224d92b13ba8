//! `stepwell reminder`: notes to people, and what became of each try.

use super::Error;
use super::client::{Client, query};
use super::print::Output;

/// See what became of notes to people.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List tries, newest first.
    List {
        /// Only of this instance.
        #[arg(long)]
        instance: Option<String>,
        /// Only SENT or only FAILED.
        #[arg(long)]
        status: Option<String>,
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
    let Command::List { instance, status, limit, after } = command;
    let parameters = query(&[
        ("instance", instance),
        ("status", status),
        ("limit", limit.map(|n| n.to_string())),
        ("after", after),
    ]);
    let answer = client.get("/api/v1/reminders", &parameters).await?;
    let columns = [
        ("SENT", "/sentAt"),
        ("STATUS", "/status"),
        ("CHANNEL", "/channel"),
        ("TRY", "/attempt"),
        ("RECIPIENTS", "/recipients"),
        ("STEP", "/stepId"),
        ("INSTANCE", "/workflowInstanceId"),
        ("ERROR", "/errorMessage"),
    ];
    output.list(&answer, &columns);
    Ok(())
}
