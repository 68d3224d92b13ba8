//! `stepwell schedule`: what starts workflows by the clock, and when a cron expression runs.

use serde_json::json;
use stepwell_schedule::{Cron, Zone, moment, show_utc};

use super::Error;
use super::client::{Client, segment};
use super::page::Page;
use super::print::{Output, cell};
use crate::domain::{Clock as _, SystemClock};

/// See and stop what starts workflows by the clock.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Show the next run times of a cron expression.
    #[command(after_help = "Examples:\n  stepwell schedule preview '0 2 * * *' --tz Europe/Prague\n  \
        stepwell schedule preview @daily --count 10")]
    Preview {
        /// Five fields, six with seconds first, or a name such as @daily.
        cron: String,
        /// The time zone, of the IANA database.
        #[arg(long, visible_alias = "time-zone", default_value = "UTC", value_name = "ZONE")]
        tz: String,
        /// How many.
        #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
        count: u16,
        /// The moment to look ahead from, ISO 8601. [default: now]
        #[arg(long, value_name = "TIME")]
        from: Option<String>,
    },
    /// List schedules: the cron triggers of all workflows.
    List {
        /// Only of this workflow.
        #[arg(long)]
        workflow: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Show a schedule and its next runs.
    Show {
        /// The schedule's id.
        id: String,
    },
    /// Stop a schedule: it starts nothing until it is resumed.
    Pause {
        /// The schedule's id.
        id: String,
    },
    /// Let a schedule go on with its next due time.
    Resume {
        /// The schedule's id.
        id: String,
    },
}

impl Command {
    /// Whether no server is asked.
    pub(super) fn is_local(&self) -> bool {
        matches!(self, Self::Preview { .. })
    }
}

/// Runs it.
pub(super) async fn run(command: Command, client: Option<&Client>, output: &Output) -> Result<(), Error> {
    let path = |id: &str, verb: &str| format!("/api/v1/schedules/{}{verb}", segment(id));
    let client = || client.ok_or_else(|| Error::usage("there is no server to ask"));
    match command {
        Command::Preview { cron, tz, count, from } => preview(&cron, &tz, count, from.as_deref(), output)?,
        Command::List { workflow, page } => {
            let parameters = page.with(&[("workflow", workflow)]);
            let answer = client()?.get("/api/v1/schedules", &parameters).await?;
            let columns = [
                ("ID", "/id"),
                ("WORKFLOW", "/workflowKey"),
                ("TRIGGER", "/triggerId"),
                ("CRON", "/cron"),
                ("ZONE", "/timeZone"),
                ("PAUSED", "/paused"),
                ("NEXT", "/nextAt"),
                ("LAST", "/lastAt"),
            ];
            output.list(&answer, &columns);
        }
        Command::Show { id } => output.value(&client()?.get(&path(&id, ""), &[]).await?),
        Command::Pause { id } => {
            let answer = client()?.post(&path(&id, "/pause"), &json!({})).await?;
            output.answer(&answer, format!("paused: {id}"));
        }
        Command::Resume { id } => {
            let answer = client()?.post(&path(&id, "/resume"), &json!({})).await?;
            output.answer(&answer, format!("resumed: {id}, next at {}", cell(&answer, "/nextAt")));
        }
    }
    Ok(())
}

fn preview(cron: &str, tz: &str, count: u16, from: Option<&str>, output: &Output) -> Result<(), Error> {
    let now_ms = SystemClock.now().millis();
    let zone = Zone::named(tz).map_err(|why| Error::usage(format!("--tz: {why}")))?;
    let from_ms = match from {
        Some(text) => {
            moment(text, now_ms, Some(&zone)).map_err(|why| Error::usage(format!("--from: {why}")))?
        }
        None => now_ms,
    };
    let runs = Cron::parse(cron, zone.clone())
        .and_then(|parsed| parsed.upcoming(from_ms, usize::from(count)))
        .map_err(Error::usage)?;
    if output.json {
        let runs: Vec<_> =
            runs.iter().map(|run| json!({ "at": show_utc(*run), "local": zone.show(*run) })).collect();
        output.value(&json!({ "cron": cron, "timeZone": tz, "runs": runs }));
    } else {
        runs.iter().for_each(|run| output.line(zone.show(*run)));
    }
    Ok(())
}
