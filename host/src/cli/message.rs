//! `stepwell message`: messages to steps that wait for them.

use serde_json::json;

use super::client::Client;
use super::print::{Output, cell};
use super::{Error, input};

/// Send messages to steps that wait for them.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Send a message to every step that subscribed to it.
    #[command(
        after_help = "Example:\n  stepwell message send order-paid --correlation 7 --payload '{\"by\": \"card\"}'"
    )]
    Send {
        /// The message's name.
        name: String,
        /// Only to subscriptions with this correlation, and to those with none.
        #[arg(long)]
        correlation: Option<String>,
        /// The body: JSON, @FILE, or - for stdin.
        #[arg(long, default_value = "{}", value_name = "JSON|@FILE|-")]
        payload: String,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    let Command::Send { name, correlation, payload } = command;
    let payload = input::json("--payload", &payload)?;
    let body = json!({ "name": name, "correlation": correlation, "payload": payload });
    let answer = client.post("/api/v1/messages", &body).await?;
    output.answer(&answer, format!("sent: {name}, to {} subscriptions", cell(&answer, "/delivered")));
    Ok(())
}
