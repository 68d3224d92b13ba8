//! SQLite: one host, one writer, a few readers beside it.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use tokio::sync::{Mutex, MutexGuard};

use super::commit::{decide, decide_swiftly};
use super::driver::{Driver, Single, Transaction};
use super::error::Fault;
use super::prepare::Prepared;
use super::statement::{Statement, parts};
use super::{OpenError, migrate};
use crate::engine::port::store::Turn;
use crate::engine::port::{Hint, Verdict};
use crate::failpoint::{self, Point};

/// Readers at once.
const READERS_MAX: u32 = 4;

/// How long a connection waits for another one's lock. Only a checkpoint, or a person with a shell, can hold one.
const BUSY_SECONDS_MAX: u64 = 30;

/// The embedded database.
pub(super) struct Sqlite {
    /// None once it is closed.
    writer: Mutex<Option<Writer>>,
    readers: SqlitePool,
}

/// The one connection that writes, and what keeps a second host away as long as it exists.
struct Writer {
    connection: SqliteConnection,
    _lock: File,
}

/// Makes a folder that others cannot look into; one that exists is left as it is.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes the database's file, for its owner only, unless it exists.
fn private_file(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

impl Sqlite {
    /// Opens or makes a database file.
    pub(super) async fn open(url: &str) -> Result<Self, OpenError> {
        let path = path_of(url)?;
        let refused = |why: String| OpenError::File { path: path.display().to_string(), why };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private_folder(folder).map_err(|error| refused(error.to_string()))?;
        }
        private_file(&path).map_err(|error| refused(error.to_string()))?;
        let lock = lock(&path)?;
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // A commit that was acknowledged survives a power cut.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(BUSY_SECONDS_MAX))
            .statement_cache_capacity(200)
            .disable_statement_logging();
        let mut connection = options.connect().await.map_err(|error| refused(error.to_string()))?;
        migrate::sqlite().run_direct(None, &mut connection, false).await.map_err(migrate::explain)?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS_MAX)
            .acquire_timeout(Duration::from_secs(BUSY_SECONDS_MAX))
            .connect_with(options.pragma("query_only", "on"))
            .await
            .map_err(|error| refused(error.to_string()))?;
        Ok(Self { writer: Mutex::new(Some(Writer { connection, _lock: lock })), readers })
    }

    async fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().await
    }
}

#[async_trait]
impl Driver for Sqlite {
    async fn read(&self, statement: &'static Statement, argument: &str) -> Result<Vec<String>, Fault> {
        let mut connection = self.readers.acquire().await?;
        run(&mut connection, statement, argument).await
    }

    async fn write(&self, write: Single, argument: &str) -> Result<Vec<String>, Fault> {
        let mut writer = self.writer().await;
        run(&mut open(&mut writer)?.connection, write.statement, argument).await
    }

    async fn transact(&self, sets: &[Arc<Prepared>], _: &Turn) -> Result<Vec<Verdict>, Fault> {
        let mut writer = self.writer().await;
        let connection = &mut open(&mut writer)?.connection;
        // Takes the lock at once: a transaction that begins by reading could not always go on to write.
        sqlx::raw_sql("begin immediate").execute(&mut *connection).await?;
        let decided = match decide_swiftly(connection, sets).await {
            Ok(None) => {
                sqlx::raw_sql("rollback; begin immediate").execute(&mut *connection).await?;
                decide(connection, sets).await
            }
            Ok(Some(verdicts)) => Ok(verdicts),
            Err(fault) => Err(fault),
        };
        let ended = match &decided {
            Ok(verdicts) if verdicts.contains(&Verdict::Applied) => "commit",
            _ => "rollback",
        };
        failpoint::pass(Point::CommitWritten);
        if let Err(error) = sqlx::raw_sql(ended).execute(&mut *connection).await {
            // Harmless where the failed statement has ended the transaction itself.
            let _ = sqlx::raw_sql("rollback").execute(&mut *connection).await;
            decided?;
            return Err(error.into());
        }
        decided
    }

    fn commits_at_once(&self) -> usize {
        1
    }

    fn shared(&self) -> bool {
        false
    }

    fn announce(&self, _: Vec<Hint>) {}

    async fn next_hints(&self) -> Vec<Hint> {
        std::future::pending().await
    }

    async fn close(&self) {
        self.readers.close().await;
        if let Some(Writer { connection, _lock }) = self.writer().await.take() {
            let _ = connection.close().await;
        }
    }
}

#[async_trait]
impl Transaction for SqliteConnection {
    async fn query(&mut self, statement: &'static Statement, argument: &str) -> Result<Vec<String>, Fault> {
        run(self, statement, argument).await
    }
}

fn open(writer: &mut Option<Writer>) -> Result<&mut Writer, Fault> {
    writer.as_mut().ok_or_else(|| Fault::Away("it is closed".into()))
}

async fn run(
    connection: &mut SqliteConnection,
    statement: &'static Statement,
    argument: &str,
) -> Result<Vec<String>, Fault> {
    tracing::trace!(statement = statement.name, bytes = argument.len(), "sqlite");
    let mut rows = Vec::new();
    for sql in parts(statement.sqlite) {
        metrics::counter!(crate::metrics::STORE_STATEMENTS).increment(1);
        rows = sqlx::query(sql).bind(argument.to_owned()).fetch_all(&mut *connection).await?;
    }
    rows.iter().map(|row| Ok(row.try_get::<String, _>(0)?)).collect()
}

/// The file of `sqlite:PATH` (or `sqlite://PATH`).
fn path_of(url: &str) -> Result<PathBuf, OpenError> {
    let path = url.strip_prefix("sqlite:").unwrap_or(url);
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() || path == ":memory:" {
        return Err(OpenError::Address(
            "sqlite: needs the path of a file, as sqlite:stepwell-data/stepwell.db".into(),
        ));
    }
    Ok(PathBuf::from(path))
}

/// Holds a file beside the database, so that a second host stays away.
fn lock(path: &Path) -> Result<File, OpenError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let refused =
        |why: std::io::Error| OpenError::File { path: path.display().to_string(), why: why.to_string() };
    let file = File::options().create(true).truncate(false).write(true).open(name).map_err(refused)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: path.display().to_string() }),
        Err(TryLockError::Error(error)) => Err(refused(error)),
    }
}
