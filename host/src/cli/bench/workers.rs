//! `stepwell bench workers`: fetching and completing alone, on both surfaces, and what many open tasks cost a fetch.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::Error;
use super::super::print::Output;
use super::super::temporary::TemporaryFolder;
use super::worker_load::{Pile, Work};
use super::worker_surface::Surface;

/// Workers that fetch while the time of a fetch is measured: few, so that it is not the time in a queue.
const LATENCY_WORKERS: usize = 4;
/// The time limit of fetches that are counted.
const COUNTED_MAX: Duration = Duration::from_secs(3600);

/// Which surfaces are measured.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Surfaces {
    /// `/api/n8n/external-tasks`.
    Native,
    /// `/engine-rest/external-task`.
    Camunda,
    /// One after the other.
    Both,
}

/// Fetching and completing tasks that lie ready.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tasks are loaded into the database in bulk: one is really started, the others are its copies. Then so many workers
fetch one task at a time and complete it, as fast as they can.

The time of a fetch with many open tasks is measured with 4 workers. Each fetches, completes, and starts a new
instance, so that the number of open tasks stays as it is.

Examples:
  stepwell bench workers
  stepwell bench workers --surface camunda --workers 64 --open 1000 --seconds 10
  stepwell bench workers --database postgres://me@127.0.0.1/bench --json")]
pub(in crate::cli) struct Args {
    /// How workers come by their tasks.
    #[arg(long, value_enum, default_value = "both")]
    surface: Surfaces,
    /// Workers at once, in turn.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64,256", value_name = "N,…",
        value_parser = clap::value_parser!(u32).range(1..=5000))]
    workers: Vec<u32>,
    /// How long each number of workers is measured.
    #[arg(long, default_value_t = 10, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Tasks that lie ready for them; when they are done, the measurement ends earlier.
    #[arg(long, default_value_t = 50_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    tasks: u64,
    /// Open tasks, in turn, for the time of a fetch.
    #[arg(long, value_delimiter = ',', default_value = "1000,50000,1000000", value_name = "N,…",
        value_parser = clap::value_parser!(u64).range(1..))]
    open: Vec<u64>,
    /// Fetches with each number of open tasks.
    #[arg(long, default_value_t = 5_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    fetches: u64,
    /// Where to measure. [default: SQLite in a temporary folder]
    #[arg(long, env = "STEPWELL_BENCH_DATABASE", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
}

/// Runs it.
pub(super) async fn run(mut args: Args, output: &Output) -> Result<(), Error> {
    let folder = TemporaryFolder::new("bench")?;
    let default = format!("sqlite:{}", folder.path().join("bench.db").display());
    let database = args.database.clone().unwrap_or(default);
    let mut pile = Pile::begin(database, folder.path().join("data")).await?;
    let surfaces = served(args.surface, pile.address()).await?;
    args.open.sort_unstable();

    let mut throughput = Vec::new();
    for workers in &args.workers {
        for surface in &surfaces {
            throughput.push(fetch_and_complete(&mut pile, *surface, *workers, &args, output).await?);
        }
    }
    let mut latency = Vec::new();
    for open in &args.open {
        for surface in &surfaces {
            latency.push(fetch_among(&mut pile, *surface, *open, &args, output).await?);
        }
    }
    pile.stop_host().await;
    show(output, &throughput, &latency, &ratios(&surfaces, &latency));
    Ok(())
}

/// Those that were asked for, if the host has them.
async fn served(wanted: Surfaces, address: &str) -> Result<Vec<Surface>, Error> {
    let wanted = match wanted {
        Surfaces::Native => vec![Surface::Native],
        Surfaces::Camunda => vec![Surface::Camunda],
        Surfaces::Both => vec![Surface::Native, Surface::Camunda],
    };
    for surface in &wanted {
        let served = surface.is_served(address).await;
        if !served.map_err(|error| Error::refused("bench_workers", error.to_string()))? {
            let name = surface.name();
            let message = format!("the host does not serve the surface {name}; say --surface native");
            return Err(Error::refused("bench_workers", message));
        }
    }
    Ok(wanted)
}

async fn fetch_and_complete(
    pile: &mut Pile,
    surface: Surface,
    workers: u32,
    args: &Args,
    output: &Output,
) -> Result<Value, Error> {
    pile.fill(args.tasks, output).await?;
    let time_max = Duration::from_secs(args.seconds);
    let work = Work { surface, workers: workers as usize, tasks_max: args.tasks, time_max, refill: false };
    let title = format!("{}, {workers} workers", surface.name());
    let mut done = pile.work(work, &title, output).await?;
    let (tasks, seconds) = (done.complete.len(), done.took.as_secs_f64());
    Ok(json!({
        "surface": surface.name(),
        "workers": workers,
        "tasks": tasks,
        "seconds": seconds,
        "tasksPerSecond": per_second(tasks, seconds),
        "fetch": done.fetch.summary(),
        "complete": done.complete.summary(),
    }))
}

async fn fetch_among(
    pile: &mut Pile,
    surface: Surface,
    open: u64,
    args: &Args,
    output: &Output,
) -> Result<Value, Error> {
    pile.fill(open, output).await?;
    let work = Work {
        surface,
        workers: LATENCY_WORKERS,
        tasks_max: args.fetches,
        time_max: COUNTED_MAX,
        refill: true,
    };
    let title = format!("{}, {open} open tasks", surface.name());
    let mut done = pile.work(work, &title, output).await?;
    Ok(json!({ "surface": surface.name(), "open": open, "fetch": done.fetch.summary() }))
}

/// For each surface, how much longer a fetch takes with the most open tasks than with the fewest, at p99.
fn ratios(surfaces: &[Surface], latency: &[Value]) -> Value {
    let of = |surface: &Surface| {
        let rows = latency.iter().filter(|row| row["surface"] == surface.name());
        let p99: Vec<f64> = rows.filter_map(|row| row.pointer("/fetch/p99Ms")?.as_f64()).collect();
        let ratio = p99.first().zip(p99.last()).map(|(fewest, most)| most / fewest.max(0.001));
        (surface.name().to_owned(), json!(ratio))
    };
    Value::Object(surfaces.iter().map(of).collect())
}

fn show(output: &Output, throughput: &[Value], latency: &[Value], ratios: &Value) {
    if output.json {
        return output.value(&json!({ "throughput": throughput, "latency": latency, "p99Ratio": ratios }));
    }
    let columns = [
        ("SURFACE", "/surface"),
        ("WORKERS", "/workers"),
        ("TASKS/S", "/tasksPerSecond"),
        ("FETCH P50 MS", "/fetch/p50Ms"),
        ("P99", "/fetch/p99Ms"),
        ("COMPLETE P50 MS", "/complete/p50Ms"),
        ("P99", "/complete/p99Ms"),
    ];
    output.list(&rounded(throughput), &columns);
    let columns = [
        ("SURFACE", "/surface"),
        ("OPEN TASKS", "/open"),
        ("FETCH P50 MS", "/fetch/p50Ms"),
        ("P99", "/fetch/p99Ms"),
        ("P99.9", "/fetch/p999Ms"),
    ];
    output.list(&rounded(latency), &columns);
    for (surface, ratio) in ratios.as_object().into_iter().flatten() {
        let ratio = ratio.as_f64().unwrap_or_default();
        output.line(format!(
            "{surface}: p99 of a fetch is {ratio:.2} times as long with the most as with the fewest"
        ));
    }
}

/// Rows with figures that people can read.
fn rounded(rows: &[Value]) -> Value {
    fn round(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(name, value)| (name.clone(), round(value))).collect())
            }
            Value::Number(number) if number.is_f64() => {
                let number = number.as_f64().unwrap_or_default();
                json!(if number < 100.0 { format!("{number:.2}") } else { format!("{number:.0}") })
            }
            other => other.clone(),
        }
    }
    rows.iter().map(round).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn per_second(count: usize, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_that_of_its_own_surface() {
        let row = |surface: &str, p99: f64| json!({ "surface": surface, "fetch": { "p99Ms": p99 } });
        let rows = [row("native", 2.0), row("camunda", 1.0), row("native", 3.0), row("camunda", 4.0)];
        let told = ratios(&[Surface::Native, Surface::Camunda], &rows);
        assert_eq!(told, json!({ "native": 1.5, "camunda": 4.0 }));
    }
}
