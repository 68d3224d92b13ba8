//! `stepwell event`: events of topics, and those that were refused.

use super::client::{Client, segment};
use super::page::Page;
use super::print::{Output, cell};
use super::{Error, input};

/// Send events to workflows, and see which were refused.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Send an event: it reaches the wait that it has the ids of, and starts workflows that its topic triggers.
    #[command(after_help = "Example:\n  stepwell event send process.completed \
                            --payload '{\"execution_id\": \"…\", \"correlation_id\": \"…\"}'")]
    Send {
        /// Its topic.
        topic: String,
        /// The body: JSON, @FILE, or - for stdin.
        #[arg(long, default_value = "{}", value_name = "JSON|@FILE|-")]
        payload: String,
    },
    /// List events that were refused, newest first.
    Rejected {
        #[command(flatten)]
        page: Page,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    match command {
        Command::Send { topic, payload } => {
            let payload = input::json("--payload", &payload)?;
            let answer = client.post(&format!("/api/v1/events/{}", segment(&topic)), &payload).await?;
            let count = |name: &str| cell(&answer, name);
            let refused = match answer["rejected"].as_str() {
                Some(reason) => format!(", refused: {reason}"),
                None => String::new(),
            };
            let started = answer["started"].as_array().map_or(0, Vec::len);
            output.answer(
                &answer,
                format!(
                    "sent: {topic}, to {} waits, kept for {}, {started} instances started{refused}",
                    count("/delivered"),
                    count("/kept")
                ),
            );
        }
        Command::Rejected { page } => {
            let parameters = page.with(&[]);
            let answer = client.get("/api/v1/events/rejected", &parameters).await?;
            let columns = [
                ("AT", "/createdAt"),
                ("SOURCE", "/source"),
                ("TOPIC", "/topic"),
                ("REASON", "/reason"),
                ("EXECUTION", "/executionId"),
                ("CORRELATION", "/correlationId"),
                ("DETAIL", "/detail"),
            ];
            output.list(&answer, &columns);
        }
    }
    Ok(())
}
