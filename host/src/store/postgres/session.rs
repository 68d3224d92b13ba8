//! Connections to PostgreSQL: a few, shared, each given back only if it is known to be sound.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection, Row};
use tokio::sync::Semaphore;

use super::whole::{self, Seal};
use crate::store::driver::Transaction;
use crate::store::error::Fault;
use crate::store::patience::Patience;
use crate::store::prepare::{Data, Prepared, array};
use crate::store::statement::{Statement, parts};

/// How long a new connection may take.
const CONNECT_SECONDS_MAX: u64 = 10;

/// How long a caller waits for a connection that others use.
const ACQUIRE_SECONDS_MAX: u64 = 15;

/// How long a statement may take before its connection counts as lost.
const STATEMENT_SECONDS_MAX: u64 = 60;

/// How long plans are kept. They are made for tables as big as they were then, and an empty database can fill
/// faster than the server notices.
const PLAN_SECONDS_MAX: u64 = 5;

/// One connection.
pub(super) struct Session {
    connection: PgConnection,
    planned_at: Instant,
}

impl Session {
    /// A new connection.
    pub(super) async fn connect(options: &PgConnectOptions) -> Result<Self, Fault> {
        let connection = in_time(CONNECT_SECONDS_MAX, "connecting", options.connect()).await?;
        Ok(Self { connection, planned_at: Instant::now() })
    }

    /// Forgets plans that are old. Statements stay prepared.
    pub(super) async fn refresh(&mut self) -> Result<(), Fault> {
        if self.planned_at.elapsed() > Duration::from_secs(PLAN_SECONDS_MAX) {
            self.say("discard plans").await?;
            self.planned_at = Instant::now();
        }
        Ok(())
    }

    /// Sends a word that begins or ends a transaction.
    pub(super) async fn say(&mut self, word: &'static str) -> Result<(), Fault> {
        in_time(STATEMENT_SECONDS_MAX, word, sqlx::raw_sql(word).execute(&mut self.connection)).await?;
        Ok(())
    }

    /// Writes a batch that [`whole::fits`] as a transaction of its own; false if a row has changed since it was read:
    /// then nothing is written.
    pub(super) async fn write_whole(&mut self, sets: &[Arc<Prepared>], seal: &Seal) -> Result<bool, Fault> {
        let query = whole::query(sets, seal)?;
        metrics::counter!(crate::metrics::STORE_STATEMENTS).increment(1);
        let work = async {
            match query.execute(&mut self.connection).await {
                Err(sqlx::Error::Database(answer)) if answer.code().as_deref() == Some(whole::CHANGED) => {
                    Ok(false)
                }
                done => done.map(|_| true),
            }
        };
        in_time(STATEMENT_SECONDS_MAX, "a batch", work).await
    }

    /// Says good-bye.
    pub(super) async fn close(self) {
        let _ = in_time(CONNECT_SECONDS_MAX, "closing", self.connection.close()).await;
    }
}

#[async_trait]
impl Transaction for Session {
    async fn query(&mut self, statement: &'static Statement, argument: &str) -> Result<Vec<String>, Fault> {
        tracing::trace!(statement = statement.name, bytes = argument.len(), "postgres");
        let mut rows = Vec::new();
        for sql in parts(statement.postgres) {
            metrics::counter!(crate::metrics::STORE_STATEMENTS).increment(1);
            let query = sqlx::query(sql).bind(argument).persistent(!statement.planned_anew);
            rows =
                in_time(STATEMENT_SECONDS_MAX, statement.name, query.fetch_all(&mut self.connection)).await?;
        }
        rows.iter().map(|row| Ok(row.try_get::<String, _>(0)?)).collect()
    }

    async fn write(&mut self, statement: &'static Statement, rows: &[Data<'_>]) -> Result<usize, Fault> {
        let Some(layout) = statement.layout() else {
            return Ok(self.query(statement, &array(rows)?).await?.len());
        };
        tracing::trace!(statement = statement.name, rows = rows.len(), "postgres");
        let records =
            layout.fill(rows).map_err(|unfit| Fault::Data(format!("{}: {unfit}", statement.name)))?;
        let query = sqlx::query(statement.postgres).bind(records);
        metrics::counter!(crate::metrics::STORE_STATEMENTS).increment(1);
        let done =
            in_time(STATEMENT_SECONDS_MAX, statement.name, query.execute(&mut self.connection)).await?;
        Ok(usize::try_from(done.rows_affected()).unwrap_or(usize::MAX))
    }
}

/// Connections that statements take turns on.
pub(super) struct Sessions {
    options: PgConnectOptions,
    idle: Mutex<Vec<Session>>,
    permits: Semaphore,
}

impl Sessions {
    /// At most so many connections, made when they are needed.
    pub(super) fn new(options: PgConnectOptions, connections_max: usize) -> Self {
        Self { options, idle: Mutex::default(), permits: Semaphore::new(connections_max) }
    }

    /// Runs a statement as a transaction of its own. A lost connection is replaced, and the statement run again,
    /// for as long as a caller can be kept waiting. The answer may have been lost after the work was done: where
    /// `found` can tell what was done, it is asked before a second try.
    pub(super) async fn write(
        &self,
        statement: &'static Statement,
        found: Option<&'static Statement>,
        argument: &str,
    ) -> Result<Vec<String>, Fault> {
        let mut patience = Patience::new();
        let mut lost = None;
        loop {
            if let Some(found) = lost {
                match self.once(found, argument).await {
                    Ok(done) if !done.is_empty() => return Ok(done),
                    Ok(_) => {}
                    Err(Fault::Away(_) | Fault::Again(_)) if patience.another().await => continue,
                    Err(fault) => return Err(fault),
                }
            }
            match self.once(statement, argument).await {
                Err(Fault::Away(_) | Fault::Again(_)) if patience.another().await => {
                    metrics::counter!("stepwell_store_retries_total").increment(1);
                    lost = found;
                }
                result => return result,
            }
        }
    }

    /// The same for a statement that may be run twice.
    pub(super) async fn query(
        &self,
        statement: &'static Statement,
        argument: &str,
    ) -> Result<Vec<String>, Fault> {
        self.write(statement, None, argument).await
    }

    async fn once(&self, statement: &'static Statement, argument: &str) -> Result<Vec<String>, Fault> {
        let waited =
            tokio::time::timeout(Duration::from_secs(ACQUIRE_SECONDS_MAX), self.permits.acquire()).await;
        let Ok(Ok(_permit)) = waited else {
            return Err(Fault::Away("no connection was free, or it is closed".into()));
        };
        let idle = self.idle().pop();
        let mut session = match idle {
            Some(session) => session,
            None => Session::connect(&self.options).await?,
        };
        // The session is out of the pool meanwhile: a caller that goes away takes it along.
        let result = match session.refresh().await {
            Ok(()) => session.query(statement, argument).await,
            Err(fault) => Err(fault),
        };
        match &result {
            // What killed this one has killed the others: do not try them one by one.
            Err(Fault::Away(_)) => self.idle().clear(),
            _ => self.idle().push(session),
        }
        result
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all connections; none is made any more.
    pub(super) async fn close(&self) {
        self.permits.close();
        let idle = std::mem::take(&mut *self.idle());
        for session in idle {
            session.close().await;
        }
    }
}

async fn in_time<T>(
    seconds_max: u64,
    what: &str,
    work: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, Fault> {
    match tokio::time::timeout(Duration::from_secs(seconds_max), work).await {
        Ok(result) => Ok(result?),
        Err(_) => Err(Fault::Away(format!("{what} took longer than {seconds_max} s"))),
    }
}
