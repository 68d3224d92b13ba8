//! PostgreSQL: any number of hosts on one database, on few connections each.

mod bind;
mod company;
mod hints;
mod lanes;
mod session;
mod whole;

use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use tokio::task::AbortHandle;
use uuid::Uuid;

use self::company::Company;
use self::hints::Seat;
use self::lanes::Lanes;
use self::session::Sessions;
use super::driver::{Driver, Single};
use super::error::Fault;
use super::prepare::Prepared;
use super::statement::{self, Statement};
use super::{OpenError, migrate};
use crate::domain::{Clock, SystemClock};
use crate::engine::port::store::Turn;
use crate::engine::port::{Hint, Verdict};

/// Commits at once. Batches are big, so few are enough.
const LANES: u32 = 4;

/// Claims and leases at once.
const CLAIMS_MAX: usize = 4;

/// Reads at once.
const READERS_MAX: usize = 8;

/// Lanes that were not used for so long belong to hosts that are gone.
const LANE_DAYS_MAX: i64 = 7;

/// A database that hosts share.
pub(super) struct Postgres {
    lanes: Lanes,
    claims: Sessions,
    readers: Sessions,
    speaker: Arc<Sessions>,
    seat: Arc<Seat>,
    tasks: [AbortHandle; 2],
}

impl Postgres {
    /// Connects, and brings the schema up to date.
    pub(super) async fn open(url: &str, node: Uuid) -> Result<Self, OpenError> {
        let options = options(url)?;
        let mut connection = options.connect().await.map_err(|error| explain(&options, &error))?;
        migrate::postgres().run_direct(None, &mut connection, false).await.map_err(migrate::explain)?;
        drop(connection);

        let readers = Sessions::new(options.clone(), READERS_MAX);
        let before = SystemClock.now().plus_millis(-LANE_DAYS_MAX * 86_400_000);
        let swept = readers.query(&statement::SWEEP_LANES, &json!({ "before": before }).to_string()).await;
        swept.map_err(|fault| OpenError::Migration(format!("{fault:?}")))?;

        // Hints need not survive a power cut.
        let speaker = Arc::new(Sessions::new(options.clone().options([("synchronous_commit", "off")]), 1));
        let seat =
            Arc::new(Seat { node, said: Arc::default(), heard: Arc::default(), company: Company::default() });
        let listener = hints::connect(&options).await.map_err(|error| explain(&options, &error))?;
        let speak = tokio::spawn(hints::speak(Arc::clone(&seat), Arc::clone(&speaker)));
        let listen = tokio::spawn(hints::listen(Arc::clone(&seat), listener, options.clone()));
        Ok(Self {
            lanes: Lanes::new(&options.clone().options([("plan_cache_mode", "force_generic_plan")]), LANES),
            claims: Sessions::new(options, CLAIMS_MAX),
            readers,
            speaker,
            seat,
            tasks: [speak.abort_handle(), listen.abort_handle()],
        })
    }
}

#[async_trait]
impl Driver for Postgres {
    async fn read(&self, statement: &'static Statement, argument: &str) -> Result<Vec<String>, Fault> {
        self.readers.query(statement, argument).await
    }

    async fn write(&self, write: Single, argument: &str) -> Result<Vec<String>, Fault> {
        self.claims.write(write.statement, write.found, argument).await
    }

    async fn transact(&self, sets: &[Arc<Prepared>], turn: &Turn) -> Result<Vec<Verdict>, Fault> {
        self.lanes.transact(sets, turn).await
    }

    fn commits_at_once(&self) -> usize {
        2
    }

    fn shared(&self) -> bool {
        true
    }

    fn announce(&self, hints: Vec<Hint>) {
        if !hints.is_empty() {
            self.seat.said.push(hints);
        }
    }

    async fn next_hints(&self) -> Vec<Hint> {
        self.seat.heard.take().await
    }

    async fn close(&self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        self.lanes.close().await;
        self.claims.close().await;
        self.readers.close().await;
        self.speaker.close().await;
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

fn options(url: &str) -> Result<PgConnectOptions, OpenError> {
    // The URL is not repeated: it may hold a password.
    let options = PgConnectOptions::from_str(url).map_err(|error| OpenError::Address(error.to_string()))?;
    Ok(options
        .application_name("stepwell")
        .statement_cache_capacity(200)
        .options([
            // Every statement finds its rows by an index. A plan made while a table was small must not read all of
            // it later: statistics come late in a database that fills within a minute.
            ("enable_seqscan", "off"),
            ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"),
            ("enable_material", "off"),
            // A host that stands still in the middle of a transaction must not keep its locks.
            ("idle_in_transaction_session_timeout", "30s"),
            // No statement takes more than one core from the others.
            ("max_parallel_workers_per_gather", "0"),
            // Statements are short; compiling them takes longer than running them.
            ("jit", "off"),
        ])
        .disable_statement_logging())
}

/// Says in a sentence why there is no connection.
fn explain(options: &PgConnectOptions, error: &sqlx::Error) -> OpenError {
    let database = options.get_database().unwrap_or("?");
    let at = format!("{}:{}/{database}", options.get_host(), options.get_port());
    let why = error.to_string();
    let code = error.as_database_error().and_then(|answer| answer.code()).unwrap_or_default();
    // 28: authorization; 3D000: no such database; 42501: no right to connect.
    if code.starts_with("28") || code == "3D000" || code == "42501" {
        OpenError::Denied { at, why }
    } else {
        OpenError::Unreachable { at, why }
    }
}
