//! `stepwell timer`: what waits for a time, and having it sooner, later or not at all.

use serde_json::json;

use super::Error;
use super::client::{Client, segment};
use super::page::Page;
use super::print::{Output, cell};

/// See and change what waits for a time.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List timers, newest first.
    List {
        /// Those that have fired, rather than those that have not.
        #[arg(long)]
        fired: bool,
        /// Only of this instance.
        #[arg(long)]
        instance: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Show a timer.
    Show {
        /// The timer's id.
        id: String,
    },
    /// Fire a timer now.
    Fire {
        /// The timer's id.
        id: String,
    },
    /// Move a timer to another time.
    #[command(after_help = "Examples:\n  stepwell timer reschedule ID --delay 30m\n  \
        stepwell timer reschedule ID --at 2026-11-09T02:00:00Z")]
    Reschedule {
        /// The timer's id.
        id: String,
        /// When: ISO 8601 with a zone.
        #[arg(long, value_name = "TIME", required_unless_present = "delay", conflicts_with = "delay")]
        at: Option<String>,
        /// How long from now: 90s, 30m, 1h30m, 2d, PT10M.
        #[arg(long, value_name = "DURATION")]
        delay: Option<String>,
    },
    /// Withdraw a timer: a step of type TIMER fails with `timer_cancelled`.
    Cancel {
        /// The timer's id.
        id: String,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    let path = |id: &str, verb: &str| format!("/api/v1/timers/{}{verb}", segment(id));
    match command {
        Command::List { fired, instance, page } => {
            let parameters =
                page.with(&[("fired", fired.then(|| "true".to_owned())), ("instance", instance)]);
            let answer = client.get("/api/v1/timers", &parameters).await?;
            let columns = [
                ("ID", "/id"),
                ("TYPE", "/timerType"),
                ("DUE", "/triggerAt"),
                ("FIRED", "/triggeredAt"),
                ("STEP", "/stepId"),
                ("INSTANCE", "/workflowInstanceId"),
            ];
            output.list(&answer, &columns);
        }
        Command::Show { id } => output.value(&client.get(&path(&id, ""), &[]).await?),
        Command::Fire { id } => {
            let answer = client.post(&path(&id, "/fire"), &json!({})).await?;
            output.answer(&answer, format!("fired: {id}"));
        }
        Command::Reschedule { id, at, delay } => {
            let body = match (at, delay) {
                (Some(at), _) => json!({ "triggerAt": at }),
                (None, delay) => json!({ "delay": delay }),
            };
            let answer = client.post(&path(&id, "/reschedule"), &body).await?;
            output.answer(&answer, format!("due at {}: {id}", cell(&answer, "/triggerAt")));
        }
        Command::Cancel { id } => {
            let answer = client.post(&path(&id, "/cancel"), &json!({})).await?;
            output.answer(&answer, format!("cancelled: {id}"));
        }
    }
    Ok(())
}
