//! `stepwell bench external-task`: cycles a second and their times, beside what the database does unbatched.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::Error;
use super::super::print::Output;
use super::super::temporary::TemporaryFolder;
use super::host::Host;
use super::load::{self, Plan};
use super::phase::Measured;
use super::plot::{self, Panel};
use super::{alternate, bar, cycle, open_load, preload, raw, tell};

/// The time limit of a run that ends after so many cycles.
const COUNTED_SECONDS_MAX: u64 = 4 * 3600;

/// Whole cycles over HTTP on loopback, with as many workers as told.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Each worker starts an instance, polls for a task and completes it, which completes the instance. With --ahead its
poll is parked, on a connection of its own, before the start is sent: as where workers wait for work. Then the same
database does three one-row transactions a cycle from as many connections, without Stepwell: the raw limit.
PostgreSQL needs psql and pgbench, and a database that may be written to.

With --rate or --half, starts come on a schedule, and times count from when a start was due. Half of them are made
by workers who then poll and complete; the tasks of the others go to parked pollers. Beside them, polls with
waitSeconds=0 ask for a type of task that does not exist (empty poll).

Dispatch is the time from a committed task to the task in the hands of a poller. It is seen from outside: from when
the answer to the start was read (or, if that is later, the poll was sent) to when the answer to the poll was read;
0 where the poll was answered first. 'start to worker's hand' runs from when the start was due.

Statements and transactions are counted by the host, reads, claims and words to other hosts included. Processor
time of PostgreSQL is that of all its processes on this machine. Of plugin calls one in sixteen is asked how long it
computed; how long they took is by the clock on the wall, so where others use the machine it is more.

Examples:
  stepwell bench external-task
  stepwell bench external-task --workers 256 --seconds 20 --database postgres://me@127.0.0.1/bench --json
  stepwell bench external-task --ahead
  stepwell bench external-task --half --plot bench.svg
  stepwell bench external-task --rate 300 --no-raw
  stepwell bench external-task --cycles 200000 --no-raw                memory after many instances
  stepwell bench external-task --preload 1000000 --alternate 3         a full database against an empty one")]
pub(in crate::cli) struct Args {
    /// Workers at once.
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5000))]
    pub(super) workers: u32,
    /// Polls are parked before the starts that serve them.
    #[arg(long)]
    pub(super) ahead: bool,
    /// How long to measure, after the warm-up. [default: 10, or as long as --cycles takes]
    #[arg(long, value_name = "S")]
    pub(super) seconds: Option<u64>,
    /// End after so many cycles.
    #[arg(long, value_name = "N", visible_alias = "instances", conflicts_with = "rate")]
    pub(super) cycles: Option<u64>,
    /// Not measured, before the measurement.
    #[arg(long, default_value_t = 2, value_name = "S")]
    pub(super) warm_up_seconds: u64,
    /// So many cycles a second on a schedule, instead of as many as possible.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) rate: Option<u32>,
    /// After the measurement, another one at half of the rate that it reached, on a schedule.
    #[arg(long, conflicts_with = "rate")]
    pub(super) half: bool,
    /// Before the measurement, load so many finished instances into the database.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) preload: u64,
    /// So many runs on an empty database and on a preloaded one in turn; tells the medians and their ratio.
    #[arg(long, value_name = "RUNS", requires = "preload", conflicts_with_all = ["rate", "half", "plot"])]
    pub(super) alternate: Option<u32>,
    /// Draw the times and the rate into this file.
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
    /// Where to measure. [default: SQLite in a temporary folder]
    #[arg(long, env = "STEPWELL_BENCH_DATABASE", value_name = "URL", hide_env_values = true)]
    pub(super) database: Option<String>,
    /// Leave out the raw limit.
    #[arg(long)]
    pub(super) no_raw: bool,
}

impl Args {
    /// How hard and how long.
    pub(super) fn plan(&self) -> Plan {
        let default = if self.cycles.is_some() { COUNTED_SECONDS_MAX } else { 10 };
        Plan {
            workers: self.workers as usize,
            ahead: self.ahead,
            warm_up: Duration::from_secs(self.warm_up_seconds),
            duration: Duration::from_secs(self.seconds.unwrap_or(default).max(1)),
            cycles_max: self.cycles,
        }
    }
}

/// Runs it.
pub(super) async fn run(args: Args, output: &Output) -> Result<(), Error> {
    let folder = TemporaryFolder::new("bench")?;
    if let Some(pairs) = args.alternate {
        return alternate::run(&args, pairs, &folder, output).await;
    }
    let default = format!("sqlite:{}", folder.path().join("bench.db").display());
    let database = args.database.clone().unwrap_or(default);
    let host = Host::start(&database, &folder.path().join("data")).await?;
    cycle::deploy(&host.address).await?;
    preload::fill(&host, &database, args.preload, output).await?;

    let plan = args.plan();
    let mut panels: Vec<Panel> = Vec::new();
    let mut told = match args.rate {
        Some(rate) => scheduled(&host, &plan, f64::from(rate), &mut panels, output).await?,
        None => {
            let mut measured = closed(&host, &plan, output).await?;
            panels.push(measured.panel(format!("{} workers, as fast as they can", plan.workers)));
            let mut told = Value::Object(measured.summary());
            if args.half {
                let rate = (measured.cycles_per_second() / 2.0).max(1.0);
                told["half"] = scheduled(&host, &plan, rate, &mut panels, output).await?;
            }
            told
        }
    };
    host.stop().await;
    told["workers"] = json!(plan.workers);
    told["ahead"] = json!(plan.ahead);
    told["preloaded"] = json!(args.preload);
    // What was measured is worth telling without it.
    let raw = match args.no_raw {
        true => None,
        false => raw_limit(&database, &plan, &folder, output)
            .await
            .map_err(|error| told["rawError"] = json!(error.to_string()))
            .ok(),
    };
    told["rawCyclesPerSecond"] = json!(raw);
    told["ratio"] = json!(raw.map(|raw| told["cyclesPerSecond"].as_f64().unwrap_or_default() / raw));
    if let Some(file) = &args.plot {
        let picture = plot::draw(&title(&database, &told), &panels);
        std::fs::write(file, picture)
            .map_err(|error| Error::usage(format!("{} cannot be written: {error}", file.display())))?;
    }
    show(output, &told);
    Ok(())
}

/// As fast as possible.
pub(super) async fn closed(host: &Host, plan: &Plan, output: &Output) -> Result<Measured, Error> {
    let bar = bar::of_plan(plan, &format!("{} workers", plan.workers), output);
    let measured = load::run(host, plan, |cycles| bar::show(&bar, plan, cycles)).await;
    bar.finish_and_clear();
    measured
}

async fn scheduled(
    host: &Host,
    plan: &Plan,
    rate: f64,
    panels: &mut Vec<Panel>,
    output: &Output,
) -> Result<Value, Error> {
    let bar = bar::of_plan(plan, &format!("{rate:.0} cycles/s"), output);
    let measured = open_load::run(host, plan, rate, |cycles| bar::show(&bar, plan, cycles)).await;
    bar.finish_and_clear();
    let mut measured = measured?;
    panels.push(measured.panel(format!("{rate:.0} cycles/s on a schedule, parked pollers")));
    let mut told = measured.summary();
    told.insert("rate".into(), json!(rate));
    told.insert("missed".into(), json!(measured.missed));
    Ok(Value::Object(told))
}

async fn raw_limit(
    database: &str,
    plan: &Plan,
    folder: &TemporaryFolder,
    output: &Output,
) -> Result<f64, Error> {
    output.line("measuring the raw limit …");
    // A run that was counted has no time of its own.
    let duration = if plan.cycles_max.is_some() { Duration::from_secs(10) } else { plan.duration };
    raw::cycles_per_second(database, plan.workers, duration, folder.path()).await
}

fn title(database: &str, told: &Value) -> String {
    let name = if database.starts_with("sqlite:") { "SQLite" } else { "PostgreSQL" };
    let number = |name: &str| told[name].as_f64().unwrap_or_default();
    let raw = match told["ratio"].as_f64() {
        Some(ratio) => format!(", {ratio:.2} times the raw limit of {:.0}", number("rawCyclesPerSecond")),
        None => String::new(),
    };
    format!(
        "Stepwell {} on {name}, {} workers: {:.0} cycles/s{raw}",
        env!("CARGO_PKG_VERSION"),
        told["workers"],
        number("cyclesPerSecond")
    )
}

fn show(output: &Output, told: &Value) {
    if output.json {
        return output.value(told);
    }
    tell::phase(output, &format!("with {} workers", told["workers"]), told);
    if told["half"].is_object() {
        tell::phase(output, "at half of that, on a schedule", &told["half"]);
    }
    if let (Some(raw), Some(ratio)) = (told["rawCyclesPerSecond"].as_f64(), told["ratio"].as_f64()) {
        output.line(format!("the database alone, unbatched: {raw:.0} cycles/s; ratio {ratio:.2}"));
    }
    if let Some(why) = told["rawError"].as_str() {
        output.line(format!("the raw limit was not measured: {why}"));
    }
}
