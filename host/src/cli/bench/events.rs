//! `stepwell bench events`: events that reach the instances that wait for them, beside few and many that wait.

use std::time::Instant;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::super::Error;
use super::super::print::Output;
use super::super::temporary::TemporaryFolder;
use super::bar;
use super::events_kafka::Way;
use super::host::Host;
use super::http::Connection;
use crate::store;

/// A schema of a PostgreSQL database that is made and removed.
const SCHEMA: &str = "stepwell_bench_events";
/// The topic of events over HTTP.
const TOPIC: &str = "bench";
/// The workflow: it waits for one event of a topic, for years if need be, and ends.
const WORKFLOW: &str = r#"{"steps": [{"id": "wait", "type": "wait_events", "config": {
    "correlationId": "c-${workflow.context.n}", "timeout": "3000d",
    "kafkaEvent": {"topic": "TOPIC", "timeout": "3000d", "filter": {"type": "done"}}}}]}"#;

/// Events a second.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For each number of waiting states, a fresh database is filled with instances that wait for an event that never comes. Then
instances are started, and an event for each of them is sent over HTTP; the rate is that of the events alone, each of which
is answered after its commit, with its instance completed. With --kafka they are records of a new topic (the broker must make
topics by itself, and the topic stays), from the first that is written to the last that has reached its instance.
PostgreSQL is measured in a schema of its own, which is removed.

Examples:
  stepwell bench events
  stepwell bench events --waiting 1000,1000000 --database postgres://me@127.0.0.1/bench --json
  stepwell bench events --kafka 127.0.0.1:9092")]
pub(in crate::cli) struct Args {
    /// Events of each measurement.
    #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    events: u32,
    /// Waiting states meanwhile; several numbers are measured one after the other.
    #[arg(long, default_value = "1000", value_delimiter = ',', value_name = "N,N")]
    waiting: Vec<u64>,
    /// Connections that send at once.
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    connections: u32,
    /// The database. [default: SQLite in a temporary folder]
    #[arg(long, env = "STEPWELL_BENCH_DATABASE", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
    /// Send the events through Kafka, by these brokers.
    #[arg(long, value_name = "BROKERS")]
    kafka: Option<String>,
}

/// Runs it.
pub(super) async fn run(args: Args, output: &Output) -> Result<(), Error> {
    if args.database.as_ref().is_some_and(|database| database.starts_with("sqlite:")) {
        let why = "SQLite is measured in a temporary folder (TMPDIR): leave out --database";
        return Err(Error::usage(why));
    }
    let folder = TemporaryFolder::new("bench")?;
    let mut runs = Vec::new();
    for waiting in &args.waiting {
        let measured = beside(&args, *waiting, &folder, output).await;
        if let Some(database) = &args.database {
            let _ = store::preload::drop_schema(database, SCHEMA).await;
        }
        runs.push(measured?);
    }
    let database = if args.database.is_some() { "postgres" } else { "sqlite" };
    if output.json {
        output.value(&json!({ "database": database, "events": args.events, "runs": runs }));
    }
    Ok(())
}

async fn beside(
    args: &Args,
    waiting: u64,
    folder: &TemporaryFolder,
    output: &Output,
) -> Result<Value, Error> {
    let database = match &args.database {
        Some(database) => store::preload::fresh_schema(database, SCHEMA).await.map_err(failed)?,
        None => format!("sqlite:{}", folder.path().join(format!("events-{}.db", Uuid::now_v7())).display()),
    };
    let way = args.kafka.as_deref().map(Way::new).transpose()?;
    let more = way.as_ref().map(|way| way.arguments().to_vec()).unwrap_or_default();
    let host = Host::start_with(&database, &folder.path().join("data"), &more).await?;
    let mut connection = Connection::open(&host.address).await.map_err(failed)?;
    let workflow = WORKFLOW.replace("TOPIC", way.as_ref().map_or(TOPIC, Way::topic));
    let deployed =
        connection.send("POST", "/api/v1/workflows?key=events", &workflow).await.map_err(failed)?;
    if deployed.status != 201 {
        return Err(failed(deployed.json()));
    }
    if waiting > 0 {
        let original = start(&mut connection, "ballast").await?;
        let bar = bar::of(waiting, "filling", output);
        let copies = waiting - 1;
        let copied =
            store::preload::copy_instance(&database, original, copies, |done| bar.set_position(done)).await;
        bar.finish_and_clear();
        copied.map_err(failed)?;
    }
    let numbers: Vec<u32> = (0..args.events).collect();
    let started = crowd(&host.address, args.connections, &numbers, start_some).await?;
    if let Some(way) = &way {
        // The host learns of the topic with its first record, which is not measured.
        way.send(&host, &[(args.events, start(&mut connection, &args.events.to_string()).await?)]).await?;
    }
    let used = host.usage().cpu_seconds;
    let (waits, seconds) = match &way {
        Some(way) => (None, way.send(&host, &started).await?),
        None => {
            let begun = Instant::now();
            let waits = crowd(&host.address, args.connections, &started, send_some).await?;
            (Some(waits), begun.elapsed().as_secs_f64())
        }
    };
    let (cpu_seconds, rss_bytes) = (host.usage().cpu_seconds - used, host.usage().rss_bytes);
    host.stop().await;
    let mut told = json!({
        "waiting": waiting,
        "events": args.events,
        "connections": args.connections,
        "way": if way.is_some() { "kafka" } else { "http" },
        "perSecond": f64::from(args.events) / seconds,
        "hostCpuSeconds": cpu_seconds,
        "hostRssBytes": rss_bytes,
    });
    let mut line = format!(
        "{} events {} beside {waiting} that wait: {:.0}/s, {cpu_seconds:.1} s of host CPU",
        args.events,
        if way.is_some() { "through Kafka" } else { "over HTTP" },
        told["perSecond"].as_f64().unwrap_or_default(),
    );
    if let Some(mut waits) = waits {
        waits.sort_by(f64::total_cmp);
        let (p50, p99) = (at(&waits, 0.5), at(&waits, 0.99));
        (told["p50Ms"], told["p99Ms"]) = (json!(p50), json!(p99));
        line += &format!(", p50 {p50:.1} ms, p99 {p99:.1} ms");
    }
    output.line(line);
    Ok(told)
}

/// Shares items among connections, and gathers what each makes of its share.
async fn crowd<T, R, F>(
    address: &str,
    connections: u32,
    items: &[T],
    work: fn(Connection, Vec<T>) -> F,
) -> Result<Vec<R>, Error>
where
    T: Clone + Send + 'static,
    R: Send + 'static,
    F: Future<Output = Result<Vec<R>, Error>> + Send + 'static,
{
    let mut busy = JoinSet::new();
    for share in items.chunks(items.len().div_ceil(connections as usize).max(1)) {
        let connection = Connection::open(address).await.map_err(failed)?;
        busy.spawn(work(connection, share.to_vec()));
    }
    let mut all = Vec::with_capacity(items.len());
    while let Some(done) = busy.join_next().await {
        all.extend(done.map_err(failed)??);
    }
    Ok(all)
}

/// Starts instances; the number and id of each.
async fn start_some(mut connection: Connection, numbers: Vec<u32>) -> Result<Vec<(u32, Uuid)>, Error> {
    let mut started = Vec::with_capacity(numbers.len());
    for number in numbers {
        started.push((number, start(&mut connection, &number.to_string()).await?));
    }
    Ok(started)
}

/// Sends an event to each; how long each took, in milliseconds.
async fn send_some(mut connection: Connection, started: Vec<(u32, Uuid)>) -> Result<Vec<f64>, Error> {
    let mut took = Vec::with_capacity(started.len());
    for (number, id) in started {
        let body = json!({ "execution_id": id, "correlation_id": format!("c-{number}"), "type": "done" });
        let begun = Instant::now();
        let answer =
            connection.send("POST", "/api/v1/events/bench", &body.to_string()).await.map_err(failed)?.json();
        took.push(begun.elapsed().as_secs_f64() * 1_000.0);
        if answer["delivered"] != 1 {
            return Err(failed(format!("an event was not taken: {answer}")));
        }
    }
    Ok(took)
}

async fn start(connection: &mut Connection, number: &str) -> Result<Uuid, Error> {
    let body = json!({ "context": { "n": number } }).to_string();
    let path = "/api/v1/workflows/events/instances";
    let answer = connection.send("POST", path, &body).await.map_err(failed)?.json();
    let id = answer["id"].as_str().and_then(|id| id.parse().ok());
    id.ok_or_else(|| failed(format!("an instance was not started: {answer}")))
}

fn at(sorted: &[f64], share: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index within a list"
    )]
    let index = ((sorted.len().saturating_sub(1)) as f64 * share) as usize;
    sorted.get(index).copied().unwrap_or_default()
}

pub(super) fn failed(why: impl std::fmt::Display) -> Error {
    Error::refused("bench_events", why.to_string())
}
