//! `stepwell bench start`: from the start of the process until the host says that it is ready.

use std::path::Path;

use serde_json::{Value, json};

use super::super::Error;
use super::super::print::Output;
use super::super::temporary::TemporaryFolder;
use super::host::Host;
use super::report::median;

/// How long a host takes to come up, with nothing there and with its compiled plugins there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Cold: an empty data folder, so plugins are compiled and, on SQLite, the database is made. Warm: the same folder again.
The time ends when /readyz has answered 200.

Examples:
  stepwell bench start
  stepwell bench start --runs 20 --json
  stepwell bench start --database postgres://me@127.0.0.1/bench")]
pub(in crate::cli) struct Args {
    /// Warm starts.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Cold starts.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    cold_runs: u32,
    /// The database. [default: SQLite in the data folder]
    #[arg(long, env = "STEPWELL_BENCH_DATABASE", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
}

/// Runs it.
pub(super) async fn run(args: Args, output: &Output) -> Result<(), Error> {
    let folder = TemporaryFolder::new("bench")?;
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    for run in 0..args.cold_runs {
        cold.push(once(&args, &folder.path().join(format!("data-{run}"))).await?);
    }
    for _ in 0..args.runs {
        warm.push(once(&args, &folder.path().join("data-0")).await?);
    }
    let told = json!({ "cold": summary(cold), "warm": summary(warm) });
    if output.json {
        output.value(&told);
        return Ok(());
    }
    for name in ["cold", "warm"] {
        let number = |what: &str| told[name][what].as_f64().unwrap_or_default();
        output.line(format!(
            "{name}: median {:.0} ms, slowest {:.0} ms ({} starts)",
            number("medianMs"),
            number("maxMs"),
            told[name]["starts"]
        ));
    }
    Ok(())
}

/// One start; its milliseconds.
async fn once(args: &Args, data: &Path) -> Result<f64, Error> {
    let default = format!("sqlite:{}", data.join("stepwell.db").display());
    let host = Host::start(args.database.as_ref().unwrap_or(&default), data).await?;
    let took = host.ready_after.as_secs_f64() * 1000.0;
    host.stop().await;
    Ok(took)
}

fn summary(times: Vec<f64>) -> Value {
    let slowest = times.iter().copied().fold(0.0, f64::max);
    json!({ "starts": times.len(), "maxMs": slowest, "medianMs": median(times) })
}
