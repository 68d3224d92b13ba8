//! `stepwell incident`: what plugins did wrong, and going on after a repair.

use serde_json::json;

use super::Error;
use super::client::{Client, segment};
use super::page::Page;
use super::print::Output;

/// See what plugins did wrong, and go on after a repair.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List incidents, newest first.
    List {
        /// Also those that are over.
        #[arg(long)]
        all: bool,
        /// Only of this instance.
        #[arg(long)]
        instance: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Run the held call again, with the component that serves the type now.
    Resume {
        /// The incident's id.
        id: String,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    match command {
        Command::List { all, instance, page } => {
            let parameters = page.with(&[("open", all.then(|| "false".to_owned())), ("instance", instance)]);
            let answer = client.get("/api/v1/incidents", &parameters).await?;
            let columns = [
                ("ID", "/id"),
                ("INSTANCE", "/instanceId"),
                ("STEP", "/stepId"),
                ("CODE", "/code"),
                ("SINCE", "/createdAt"),
                ("MESSAGE", "/message"),
            ];
            output.list(&answer, &columns);
        }
        Command::Resume { id } => {
            let answer =
                client.post(&format!("/api/v1/incidents/{}/resume", segment(&id)), &json!({})).await?;
            output.answer(&answer, format!("resumed: {id}"));
        }
    }
    Ok(())
}
