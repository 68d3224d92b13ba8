//! The raw speed of SQLite, for comparison: one-row transactions, one after the other.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};

const PREPARE: &str =
    "create table raw (id integer primary key, payload text not null, status text not null)";
const INSERT: &str = "insert into raw (payload, status) values (?1, 'PENDING')";
const LOCK: &str =
    "update raw set status = 'LOCKED' where id = (select id from raw where status = 'PENDING' limit 1)";
const COMPLETE: &str =
    "update raw set status = 'COMPLETED' where id = (select id from raw where status = 'LOCKED' limit 1)";

/// Cycles of insert, lock and complete that a database file does in a second, from so many connections, durably.
pub async fn sqlite_cycles_per_second(
    file: &Path,
    connections: usize,
    duration: Duration,
) -> Result<f64, String> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(60));
    let told = |error: sqlx::Error| error.to_string();
    let mut first = SqliteConnection::connect_with(&options).await.map_err(told)?;
    sqlx::query(PREPARE).execute(&mut first).await.map_err(told)?;
    sqlx::query("create index raw_status on raw (status) where status <> 'COMPLETED'")
        .execute(&mut first)
        .await
        .map_err(told)?;
    let cycles = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..connections {
        let (options, cycles) = (options.clone(), cycles.clone());
        workers.spawn(async move {
            let mut connection = SqliteConnection::connect_with(&options).await?;
            let payload = "x".repeat(300);
            while begun.elapsed() < duration {
                sqlx::query(INSERT).bind(&payload).execute(&mut connection).await?;
                sqlx::query(LOCK).execute(&mut connection).await?;
                sqlx::query(COMPLETE).execute(&mut connection).await?;
                cycles.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<(), sqlx::Error>(())
        });
    }
    while let Some(worker) = workers.join_next().await {
        worker.map_err(|error| error.to_string())?.map_err(told)?;
    }
    Ok(rate(cycles.load(Ordering::Relaxed), begun.elapsed()))
}

#[expect(clippy::cast_precision_loss, reason = "a count of cycles is far below 2^52")]
fn rate(cycles: u64, took: Duration) -> f64 {
    cycles as f64 / took.as_secs_f64()
}
