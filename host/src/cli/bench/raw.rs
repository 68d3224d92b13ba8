//! The raw limit of the same database: three one-row transactions a cycle, one after the other, nothing batched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;

use super::super::Error;
use crate::store::raw;

/// What pgbench runs: insert, lock with SKIP LOCKED, complete; each a transaction. A cycle that finds nothing to lock
/// completes nothing, as a poll that finds nothing.
const SCRIPT: &str = r"\set task 0
insert into stepwell_bench_raw (payload, status) values (jsonb_build_object('note', repeat('x', 280)), 'PENDING');
update stepwell_bench_raw set status = 'LOCKED' where id = (select id from stepwell_bench_raw where status = 'PENDING' order by id limit 1 for update skip locked) returning id as task \aset
update stepwell_bench_raw set status = 'COMPLETED' where id = :task;
";

const PREPARE: &str = "drop table if exists stepwell_bench_raw;
create table stepwell_bench_raw (id bigint generated always as identity primary key, payload jsonb not null, status text not null);
create index on stepwell_bench_raw (id) where status = 'PENDING';";

/// Cycles a second that the database does from so many connections.
pub(super) async fn cycles_per_second(
    database: &str,
    connections: usize,
    duration: Duration,
    folder: &Path,
) -> Result<f64, Error> {
    if database.starts_with("sqlite:") {
        let file = folder.join("raw.db");
        return raw::sqlite_cycles_per_second(&file, connections, duration)
            .await
            .map_err(|error| Error::refused("bench_raw", error));
    }
    postgres(database, connections, duration, folder).await
}

async fn postgres(
    database: &str,
    connections: usize,
    duration: Duration,
    folder: &Path,
) -> Result<f64, Error> {
    run("psql", &["-q", "-X", "-v", "ON_ERROR_STOP=1", "-c", PREPARE, database]).await?;
    let script = folder.join("cycle.sql");
    std::fs::write(&script, SCRIPT).map_err(|error| Error::refused("bench_raw", error.to_string()))?;
    let (clients, seconds) = (connections.to_string(), duration.as_secs().max(1).to_string());
    let script = script.to_string_lossy().into_owned();
    let arguments =
        ["-n", "-M", "prepared", "-c", &clients, "-j", "2", "-T", &seconds, "-f", &script, database];
    let said = run("pgbench", &arguments).await?;
    let rate =
        said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse::<f64>().ok());
    run("psql", &["-q", "-X", "-c", "drop table stepwell_bench_raw", database]).await?;
    rate.ok_or_else(|| Error::refused("bench_raw", format!("pgbench said no rate: {said}")))
}

async fn run(program: &str, arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new(find(program)).args(arguments).output().await.map_err(|error| {
        Error::refused(
            "bench_raw",
            format!("{program} cannot be run ({error}); it comes with PostgreSQL's client"),
        )
    })?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        let first = why.lines().next().unwrap_or_default();
        return Err(Error::refused("bench_raw", format!("{program} failed: {first}")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Debian keeps the server's programs out of the path.
fn find(program: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions
        .map(|version| version.path().join("bin").join(program))
        .filter(|path| path.exists())
        .collect();
    found.sort();
    found.pop().unwrap_or_else(|| PathBuf::from(program))
}
