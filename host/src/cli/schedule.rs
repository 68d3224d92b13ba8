//! `stepwell schedule`: when a cron expression runs, before anything depends on it.

use serde_json::json;
use stepwell_schedule::{Cron, Zone, moment, show_utc};

use super::Error;
use super::print::Output;
use crate::domain::{Clock as _, SystemClock};

/// See when a cron expression runs.
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
}

/// Runs it. There is nothing to ask a server for.
pub(super) fn run(command: Command, output: &Output) -> Result<(), Error> {
    let Command::Preview { cron, tz, count, from } = command;
    let now_ms = SystemClock.now().millis();
    let zone = Zone::named(&tz).map_err(|why| Error::usage(format!("--tz: {why}")))?;
    let from_ms = match &from {
        Some(text) => {
            moment(text, now_ms, Some(&zone)).map_err(|why| Error::usage(format!("--from: {why}")))?
        }
        None => now_ms,
    };
    let runs = Cron::parse(&cron, zone.clone())
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
