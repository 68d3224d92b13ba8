//! `stepwell bench external-task`: cycles a second and their times, beside what the database does unbatched.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::Error;
use super::super::print::Output;
use super::super::temporary::TemporaryFolder;
use super::host::{Host, Use};
use super::http::Connection;
use super::load::{self, Plan, Seen};
use super::raw;

/// Whole cycles over HTTP on loopback, with as many workers as told.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each worker starts an instance, polls for a task and completes it, which completes the instance. Then the same
database does three one-row transactions a cycle from as many connections, without Stepwell: the raw limit.
PostgreSQL needs psql and pgbench, and a database that may be written to.

Examples:
  stepwell bench external-task
  stepwell bench external-task --workers 256 --seconds 20 --database postgres://me@127.0.0.1/bench --json")]
pub(in crate::cli) struct Args {
    /// Workers at once.
    #[arg(long, default_value_t = 64, value_name = "N")]
    workers: usize,
    /// How long to measure, after the warm-up.
    #[arg(long, default_value_t = 10, value_name = "S")]
    seconds: u64,
    /// End earlier, after so many cycles.
    #[arg(long, value_name = "N")]
    cycles: Option<u64>,
    /// Not measured, before the measurement.
    #[arg(long, default_value_t = 2, value_name = "S")]
    warm_up_seconds: u64,
    /// Where to measure. [default: SQLite in a temporary folder]
    #[arg(long, env = "STEPWELL_BENCH_DATABASE", value_name = "URL")]
    database: Option<String>,
    /// Leave out the raw limit.
    #[arg(long)]
    no_raw: bool,
}

/// Runs it.
pub(super) async fn run(args: Args, output: &Output) -> Result<(), Error> {
    let folder = TemporaryFolder::new("bench")?;
    let default = format!("sqlite:{}", folder.path().join("bench.db").display());
    let database = args.database.clone().unwrap_or(default);
    let host = Host::start(&database, &folder.path().join("data")).await?;
    deploy(&host.address).await?;
    let plan = Plan {
        address: host.address.clone(),
        workers: args.workers,
        warm_up: Duration::from_secs(args.warm_up_seconds),
        duration: Duration::from_secs(args.seconds),
        cycles_max: args.cycles,
    };
    let bar = progress_bar(&args, output);
    let (before, counts) = (host.usage(), Counts::read(&host).await);
    let (seen, took) = load::run(&plan, |cycles| bar.set_message(format!("{cycles} cycles"))).await?;
    let (after, counted) = (host.usage(), Counts::read(&host).await.since(counts));
    bar.finish_and_clear();
    drop(host);
    let raw = if args.no_raw {
        None
    } else {
        output.line("measuring the raw limit …");
        let raw = raw::cycles_per_second(&database, args.workers, plan.duration, folder.path()).await;
        // What was measured is worth telling without it.
        raw.map_err(|error| output.line(format!("the raw limit was not measured: {error}"))).ok()
    };
    tell(output, &summary(&args, seen, took, (before, after), counted, raw));
    Ok(())
}

/// What the host counted: transactions, and transitions in them.
#[derive(Clone, Copy)]
struct Counts {
    commits: f64,
    cycles: f64,
}

impl Counts {
    async fn read(host: &Host) -> Self {
        Self {
            commits: host.metric("stepwell_commit_seconds_count").await,
            cycles: host.metric("stepwell_instances_ended_total").await,
        }
    }

    fn since(self, earlier: Self) -> Self {
        Self { commits: self.commits - earlier.commits, cycles: self.cycles - earlier.cycles }
    }
}

async fn deploy(address: &str) -> Result<(), Error> {
    let failed =
        |why: String| Error::refused("bench_deploy", format!("the bench workflow was not deployed: {why}"));
    let mut connection = Connection::open(address).await.map_err(|error| failed(error.to_string()))?;
    let answer = connection.send("POST", "/api/v1/workflows", load::WORKFLOW).await;
    let answer = answer.map_err(|error| failed(error.to_string()))?;
    if answer.status >= 300 {
        return Err(failed(String::from_utf8_lossy(&answer.body).into_owned()));
    }
    Ok(())
}

fn progress_bar(args: &Args, output: &Output) -> indicatif::ProgressBar {
    // It draws on a terminal only.
    let bar =
        if output.json { indicatif::ProgressBar::hidden() } else { indicatif::ProgressBar::new_spinner() };
    bar.set_prefix(format!("{} workers", args.workers));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn summary(
    args: &Args,
    mut seen: Seen,
    took: Duration,
    (before, after): (Use, Use),
    counted: Counts,
    raw: Option<f64>,
) -> Value {
    let rate = seen.cycle.len() as f64 / took.as_secs_f64();
    let written = after.written_bytes.saturating_sub(before.written_bytes) as f64;
    json!({
        "workers": args.workers,
        "seconds": took.as_secs_f64(),
        "cycles": seen.cycle.len(),
        "cyclesPerSecond": rate,
        "errors": seen.errors,
        "rawCyclesPerSecond": raw,
        "ratio": raw.map(|raw| rate / raw),
        "start": seen.start.summary(),
        "poll": seen.poll.summary(),
        "complete": seen.complete.summary(),
        "cycle": seen.cycle.summary(),
        "host": {
            "cpuCores": (after.cpu_seconds - before.cpu_seconds) / (took + Duration::from_secs(args.warm_up_seconds)).as_secs_f64(),
            "rssBytes": after.rss_bytes,
            "writtenBytesPerCycle": written / counted.cycles.max(1.0),
            "commitsPerCycle": counted.commits / counted.cycles.max(1.0),
        },
    })
}

fn tell(output: &Output, summary: &Value) {
    if output.json {
        output.value(summary);
        return;
    }
    let number = |pointer: &str| summary.pointer(pointer).and_then(Value::as_f64).unwrap_or_default();
    output.line(format!(
        "{:.0} cycles/s with {} workers ({} cycles, {} errors)",
        number("/cyclesPerSecond"),
        summary["workers"],
        summary["cycles"],
        summary["errors"]
    ));
    for name in ["start", "poll", "complete", "cycle"] {
        let at = |what: &str| number(&format!("/{name}/{what}"));
        output.line(format!(
            "  {name:<9} p50 {:>8.2} ms   p99 {:>8.2} ms   p99.9 {:>8.2} ms",
            at("p50Ms"),
            at("p99Ms"),
            at("p999Ms")
        ));
    }
    output.line(format!(
        "  host: {:.2} cores, {:.0} MiB, {:.0} bytes written and {:.3} commits a cycle",
        number("/host/cpuCores"),
        number("/host/rssBytes") / f64::from(1 << 20),
        number("/host/writtenBytesPerCycle"),
        number("/host/commitsPerCycle")
    ));
    if !summary["rawCyclesPerSecond"].is_null() {
        output.line(format!(
            "  the database alone, unbatched: {:.0} cycles/s; ratio {:.2}",
            number("/rawCyclesPerSecond"),
            number("/ratio")
        ));
    }
}
