//! `stepwell wait`: waits for events, and mending those that failed.

use serde_json::json;

use super::client::{Client, segment};
use super::page::Page;
use super::print::Output;
use super::{Error, input};

/// See what instances wait for; complete or retry a wait that failed.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List waits, newest first.
    List {
        /// Only those that failed and can be mended.
        #[arg(long, conflicts_with_all = ["instance", "status"])]
        dead: bool,
        /// Only of this instance.
        #[arg(long)]
        instance: Option<String>,
        /// waiting, completed, timeout, failed, cancelled or retried.
        #[arg(long)]
        status: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Show a wait with what has come.
    Show {
        /// The wait's id.
        id: String,
    },
    /// Complete a wait that failed, by hand: its instance goes on with this output.
    #[command(
        after_help = "Example:\n  stepwell wait complete 01a1… --output '{\"kafka_event\": {\"ok\": true}}'"
    )]
    Complete {
        /// The wait's id.
        id: String,
        /// The step's output: JSON, @FILE, or - for stdin.
        #[arg(long, default_value = "{}", value_name = "JSON|@FILE|-")]
        output: String,
    },
    /// Let the step of a wait that failed begin again.
    Retry {
        /// The wait's id.
        id: String,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    let path = |id: &str| format!("/api/v1/wait-states/{}", segment(id));
    match command {
        Command::List { dead, instance, status, page } => {
            let parameters = page.with(&[("instance", instance), ("status", status)]);
            let list = if dead { "/api/v1/wait-states/dead-letters" } else { "/api/v1/wait-states" };
            let answer = client.get(list, &parameters).await?;
            let columns = [
                ("ID", "/id"),
                ("STATUS", "/status"),
                ("INSTANCE", "/executionId"),
                ("STEP", "/nodeId"),
                ("CORRELATION", "/correlationId"),
                ("NEEDS", "/requiredEvents"),
                ("HAS", "/receivedEvents"),
                ("UNTIL", "/expiresAt"),
            ];
            output.list(&answer, &columns);
        }
        Command::Show { id } => output.value(&client.get(&path(&id), &[]).await?),
        Command::Complete { id, output: value } => {
            let body = json!({ "output": input::json("--output", &value)? });
            let answer = client.post(&format!("{}/complete", path(&id)), &body).await?;
            output.answer(&answer, format!("completed: {id}"));
        }
        Command::Retry { id } => {
            let answer = client.post(&format!("{}/retry", path(&id)), &json!({})).await?;
            output.answer(&answer, format!("begins again: {id}"));
        }
    }
    Ok(())
}
