//! `stepwell outbox`: what waits to leave a host, and what was given up.

use serde_json::json;

use super::Error;
use super::client::{Client, segment};
use super::page::Page;
use super::print::Output;

/// See what leaves a host; send again or discard what was given up.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List what waits, newest first.
    List {
        /// What was given up, rather than what waits.
        #[arg(long)]
        dead: bool,
        #[command(flatten)]
        page: Page,
    },
    /// Send again what was given up.
    Retry {
        /// The item's id.
        id: String,
    },
    /// Forget what was given up.
    Discard {
        /// The item's id.
        id: String,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    let path = |id: &str, verb: &str| format!("/api/v1/outbox/dead-letters/{}/{verb}", segment(id));
    match command {
        Command::List { dead, page } => {
            let parameters = page.with(&[]);
            let list = if dead { "/api/v1/outbox/dead-letters" } else { "/api/v1/outbox" };
            let answer = client.get(list, &parameters).await?;
            let columns = [
                ("ID", "/id"),
                ("KIND", "/kind"),
                ("TRIES", "/attempts"),
                ("DUE", "/dueAt"),
                ("INSTANCE", "/instanceId"),
                ("ERROR", "/error"),
            ];
            output.list(&answer, &columns);
        }
        Command::Retry { id } => {
            let answer = client.post(&path(&id, "retry"), &json!({})).await?;
            output.answer(&answer, format!("sent again: {id}"));
        }
        Command::Discard { id } => {
            let answer = client.post(&path(&id, "discard"), &json!({})).await?;
            output.answer(&answer, format!("discarded: {id}"));
        }
    }
    Ok(())
}
