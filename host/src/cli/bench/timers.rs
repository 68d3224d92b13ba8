//! `stepwell bench timers`: how late timers fire, spread over time and all at once, beside few and many that wait.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::super::Error;
use super::super::print::Output;
use super::super::temporary::TemporaryFolder;
use super::bar;
use super::host::Host;
use super::http::Connection;
use super::lateness::{self, Lateness};
use crate::domain::{Clock as _, SystemClock, Timestamp};
use crate::store;

/// Connections that start instances.
const CONNECTIONS: usize = 16;
/// How long after the last due time all must have fired.
const FIRE_MAX: Duration = Duration::from_secs(300);
/// A schema of a PostgreSQL database that is made and removed.
const SCHEMA: &str = "stepwell_bench_timers";
/// The workflow: it waits for a moment, and ends.
const WORKFLOW: &str =
    r#"{"steps": [{"id": "wait", "type": "TIMER", "config": {"scheduleAt": "${workflow.context.at}"}}]}"#;
/// Those that wait are due in about ten years.
const FAR_MS: i64 = 10 * 365 * 86_400_000;

/// How late timers fire.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For each number of pending timers, a fresh database is filled with instances that wait for years. Then instances are
started whose timers are due spread over some seconds, and as many that are due at the same moment. Lateness is told twice:
until the host decided (exact, from the records), and until the decision was committed (the bounds of the host's own
histogram). PostgreSQL is measured in a schema of its own, which is removed.

Examples:
  stepwell bench timers
  stepwell bench timers --pending 1000,1000000 --database postgres://me@127.0.0.1/bench --json")]
pub(in crate::cli) struct Args {
    /// Timers of each measurement.
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    timers: u32,
    /// Timers that wait meanwhile; several numbers are measured one after the other.
    #[arg(long, default_value = "1000", value_delimiter = ',', value_name = "N,N")]
    pending: Vec<u64>,
    /// The time over which they are spread.
    #[arg(long, default_value_t = 30, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=3600))]
    spread_seconds: u32,
    /// The time for starting the instances before the first timer is due.
    #[arg(long, default_value_t = 30, value_name = "S", value_parser = clap::value_parser!(u32).range(2..=3600))]
    lead_seconds: u32,
    /// The database. [default: SQLite in a temporary folder]
    #[arg(long, env = "STEPWELL_BENCH_DATABASE", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
}

/// Runs it.
pub(super) async fn run(args: Args, output: &Output) -> Result<(), Error> {
    if args.database.as_ref().is_some_and(|database| database.starts_with("sqlite:")) {
        let why = "SQLite is measured in a temporary folder (TMPDIR): leave out --database";
        return Err(Error::usage(why));
    }
    let folder = TemporaryFolder::new("bench")?;
    let mut runs = Vec::new();
    for pending in &args.pending {
        let measured = beside(&args, *pending, &folder, output).await;
        if let Some(database) = &args.database {
            let _ = store::preload::drop_schema(database, SCHEMA).await;
        }
        runs.extend(measured?);
    }
    let database = if args.database.is_some() { "postgres" } else { "sqlite" };
    if output.json {
        output.value(&json!({ "database": database, "timers": args.timers, "runs": runs }));
    }
    Ok(())
}

/// Both measurements beside so many timers that wait.
async fn beside(
    args: &Args,
    pending: u64,
    folder: &TemporaryFolder,
    output: &Output,
) -> Result<Vec<Value>, Error> {
    let database = match &args.database {
        Some(database) => store::preload::fresh_schema(database, SCHEMA).await.map_err(failed)?,
        None => format!("sqlite:{}", folder.path().join(format!("timers-{}.db", Uuid::now_v7())).display()),
    };
    let host = Host::start(&database, &folder.path().join("data")).await?;
    let mut connection = Connection::open(&host.address).await.map_err(failed)?;
    let deployed = connection.send("POST", "/api/v1/workflows?key=timers", WORKFLOW).await.map_err(failed)?;
    if deployed.status != 201 {
        return Err(failed(deployed.json()));
    }
    fill(&mut connection, &database, pending, output).await?;
    let mut runs = Vec::new();
    for spread_ms in [i64::from(args.spread_seconds) * 1_000, 0] {
        runs.push(measure(args, pending, spread_ms, &host, output).await?);
    }
    host.stop().await;
    Ok(runs)
}

/// One instance is really started and waits, the others are its copies.
async fn fill(
    connection: &mut Connection,
    database: &str,
    pending: u64,
    output: &Output,
) -> Result<(), Error> {
    if pending == 0 {
        return Ok(());
    }
    let original = start(connection, SystemClock.now().plus_millis(FAR_MS)).await?;
    let bar = bar::of(pending, "filling", output);
    let copies = pending - 1;
    let copied =
        store::preload::copy_instance(database, original, copies, |done| bar.set_position(done)).await;
    bar.finish_and_clear();
    copied.map_err(failed)
}

async fn measure(
    args: &Args,
    pending: u64,
    spread_ms: i64,
    host: &Host,
    output: &Output,
) -> Result<Value, Error> {
    let before = lateness::Histogram::of(&host.figures().await);
    let base = SystemClock.now().plus_millis(i64::from(args.lead_seconds) * 1_000);
    let begun = Instant::now();
    start_all(&host.address, args.timers, |n| {
        base.plus_millis(spread_ms * i64::from(n) / i64::from(args.timers.max(1)))
    })
    .await?;
    if SystemClock.now() >= base {
        let why = format!("starting took {:.0} s; raise --lead-seconds", begun.elapsed().as_secs_f64());
        return Err(Error::refused("bench_timers", why));
    }
    let used = host.usage().cpu_seconds;
    let patience = Instant::now() + Duration::from_secs(u64::from(args.lead_seconds)) + FIRE_MAX;
    let committed = loop {
        let figures = lateness::Histogram::of(&host.figures().await).since(&before);
        if figures.count() >= u64::from(args.timers) {
            break figures;
        }
        if Instant::now() > patience {
            let why = format!("only {} of {} timers fired", figures.count(), args.timers);
            return Err(Error::refused("bench_timers", why));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let done_after = SystemClock.now().since(base.plus_millis(spread_ms));
    let (cpu_seconds, rss_bytes) = (host.usage().cpu_seconds - used, host.usage().rss_bytes);
    let decided = Lateness::of_records(&host.address, args.timers as usize).await.map_err(failed)?;
    let told = json!({
        "pending": pending,
        "timers": args.timers,
        "spreadSeconds": spread_ms / 1_000,
        "decided": decided.summary(),
        "committed": committed.summary(),
        "doneAfterMs": done_after.as_millis(),
        "hostCpuSeconds": cpu_seconds,
        "hostRssBytes": rss_bytes,
    });
    output.line(sentence(&told));
    Ok(told)
}

fn sentence(told: &Value) -> String {
    let shape = match told["spreadSeconds"].as_i64() {
        Some(0) => "at one moment".to_owned(),
        seconds => format!("over {} s", seconds.unwrap_or_default()),
    };
    let number = |pointer: &str| told.pointer(pointer).and_then(Value::as_f64).unwrap_or_default();
    format!(
        "{} timers {shape} beside {} pending: decided p50 {:.0} ms, p99 {:.0} ms, max {:.0} ms; committed within {} ms \
         (p50), {} ms (p99), {} ms (all); {:.1} s of host CPU",
        told["timers"],
        told["pending"],
        number("/decided/p50Ms"),
        number("/decided/p99Ms"),
        number("/decided/maxMs"),
        told["committed"]["p50WithinMs"],
        told["committed"]["p99WithinMs"],
        told["committed"]["allWithinMs"],
        number("/hostCpuSeconds"),
    )
}

/// Starts so many instances, each with its own due time.
async fn start_all(address: &str, timers: u32, due: impl Fn(u32) -> Timestamp) -> Result<(), Error> {
    let times: Vec<Timestamp> = (0..timers).map(due).collect();
    let mut starters = JoinSet::new();
    for chunk in times.chunks(times.len().div_ceil(CONNECTIONS).max(1)) {
        let (address, chunk) = (address.to_owned(), chunk.to_vec());
        starters.spawn(async move {
            let mut connection = Connection::open(&address).await.map_err(failed)?;
            for at in chunk {
                start(&mut connection, at).await?;
            }
            Ok::<(), Error>(())
        });
    }
    while let Some(started) = starters.join_next().await {
        started.map_err(failed)??;
    }
    Ok(())
}

async fn start(connection: &mut Connection, at: Timestamp) -> Result<Uuid, Error> {
    let body = json!({ "context": { "at": at } }).to_string();
    let path = "/api/v1/workflows/timers/instances";
    let answer = connection.send("POST", path, &body).await.map_err(failed)?.json();
    let id = answer["id"].as_str().and_then(|id| id.parse().ok());
    id.ok_or_else(|| failed(format!("an instance was not started: {answer}")))
}

fn failed(why: impl std::fmt::Display) -> Error {
    Error::refused("bench_timers", why.to_string())
}
