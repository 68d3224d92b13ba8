//! `stepwell bench parked`: what workers that wait cost a host.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use super::super::Error;
use super::super::print::Output;
use super::super::temporary::TemporaryFolder;
use super::cycle::{Client, NOTHING};
use super::host::Host;

/// How long it may take until all are parked.
const PARK_MAX: Duration = Duration::from_secs(120);
/// A host that has just started has things to do for a moment.
const SETTLE: Duration = Duration::from_secs(2);

/// What parked pollers cost: processor time and memory of the host.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The host is looked at first with no pollers, then with all of them parked, for as long each. Pollers come back when
their wait is over, evenly spread, so coming back is part of the cost. Each is a connection: the limit of open files
(ulimit -n) must allow for them.

Examples:
  stepwell bench parked
  stepwell bench parked --pollers 4000 --seconds 60 --database postgres://me@127.0.0.1/bench --json")]
pub(in crate::cli) struct Args {
    /// Pollers.
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5000))]
    pollers: u32,
    /// How long to look, each time.
    #[arg(long, default_value_t = 10, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// How long a poll waits.
    #[arg(long, default_value_t = 30, value_name = "S", value_parser = clap::value_parser!(u64).range(2..=300))]
    wait_seconds: u64,
    /// The database. [default: SQLite in a temporary folder]
    #[arg(long, env = "STEPWELL_BENCH_DATABASE", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
}

/// Runs it.
pub(super) async fn run(args: Args, output: &Output) -> Result<(), Error> {
    let folder = TemporaryFolder::new("bench")?;
    let default = format!("sqlite:{}", folder.path().join("bench.db").display());
    let database = args.database.clone().unwrap_or(default);
    let host = Host::start(&database, &folder.path().join("data")).await?;
    tokio::time::sleep(SETTLE).await;
    let alone = share_of_core(&host, args.seconds).await;
    let before = host.usage().rss_bytes;

    let mut pollers = JoinSet::new();
    for number in 0..args.pollers {
        pollers.spawn(park(host.address.clone(), number, args.wait_seconds));
    }
    all_parked(&host, &mut pollers, u64::from(args.pollers)).await?;
    tokio::time::sleep(SETTLE).await;
    let with = share_of_core(&host, args.seconds).await;
    let (parked, after) = (host.parked().await, host.usage().rss_bytes);
    pollers.abort_all();
    host.stop().await;

    let memory = after.saturating_sub(before);
    let told = json!({
        "pollers": args.pollers,
        "parkedAtEnd": parked,
        "cpuPercentOfCoreAlone": alone * 100.0,
        "cpuPercentOfCoreWithPollers": with * 100.0,
        "cpuPercentOfCore": (with - alone).max(0.0) * 100.0,
        "rssBytesBefore": before,
        "rssBytesAfter": after,
        "rssBytes": memory,
    });
    output.answer(
        &told,
        format!(
            "{} parked pollers cost {:.2} % of a core ({:.2} % with them, {:.2} % without) and {:.1} MiB of memory",
            args.pollers,
            (with - alone).max(0.0) * 100.0,
            with * 100.0,
            alone * 100.0,
            megabytes(memory)
        ),
    );
    Ok(())
}

/// Processor time of the host while it is looked at, as a part of one core.
async fn share_of_core(host: &Host, seconds: u64) -> f64 {
    let (begun, before) = (Instant::now(), host.usage().cpu_seconds);
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    (host.usage().cpu_seconds - before) / begun.elapsed().as_secs_f64()
}

/// Polls for what nobody makes, again and again. The first wait is shorter, so that not all come back at once.
async fn park(address: String, number: u32, wait_seconds: u64) -> std::io::Result<()> {
    let first = 1 + u64::from(number) % wait_seconds;
    let number = number as usize;
    let mut client = Client::open(&address, NOTHING, number, first).await?;
    client.poll().await?;
    drop(client);
    let mut client = Client::open(&address, NOTHING, number, wait_seconds).await?;
    loop {
        client.poll().await?;
    }
}

async fn all_parked(
    host: &Host,
    pollers: &mut JoinSet<std::io::Result<()>>,
    wanted: u64,
) -> Result<(), Error> {
    let patience = Instant::now() + PARK_MAX;
    loop {
        // One that has ended could not connect, or was turned away.
        if let Some(Ok(Err(error))) = pollers.try_join_next() {
            let message = format!("a poller gave up: {error}; is `ulimit -n` above {}?", wanted + 100);
            return Err(Error::refused("bench_parked", message));
        }
        // Some are on their way back at any moment.
        if host.parked().await >= wanted - wanted / 20 {
            return Ok(());
        }
        if Instant::now() > patience {
            return Err(Error::refused("bench_parked", "the pollers were not all parked in time"));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[expect(clippy::cast_precision_loss, reason = "memory of one process is far below 2^52 bytes")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
