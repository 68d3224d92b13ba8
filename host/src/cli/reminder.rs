//! `stepwell reminder`: notes to people, and what became of each try.

use super::Error;
use super::client::Client;
use super::page::Page;
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
        #[command(flatten)]
        page: Page,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    let Command::List { instance, status, page } = command;
    let parameters = page.with(&[("instance", instance), ("status", status)]);
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
