//! A database for one test, and the macros that run a test on both kinds.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};
use stepwell::engine::port::Store;
use tempfile::TempDir;
use uuid::Uuid;

use crate::postgres;

/// How long a test may take before it counts as hung. Far more than a slow machine needs.
const TEST_SECONDS_MAX: u64 = 600;

/// An empty database of the test's own.
#[derive(Debug)]
pub struct TestDb {
    url: String,
    /// Where a SQLite file lies; removed with this value.
    folder: Option<TempDir>,
}

impl TestDb {
    /// A SQLite file that does not exist yet.
    pub fn sqlite() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let url = format!("sqlite:{}", folder.path().join("stepwell.db").display());
        Ok(Self { url, folder: Some(folder) })
    }

    /// A new database on the server of this process. None if PostgreSQL is not to be had: the test is skipped,
    /// loudly, and fails where `CI` is `true`.
    pub async fn postgres() -> Result<Option<Self>> {
        match postgres::shared() {
            Ok(server) => Ok(Some(Self::on(server).await?)),
            Err(why) if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
                anyhow::bail!("there is no PostgreSQL to test on: {why}")
            }
            Err(why) => {
                // Not `eprintln`, which a passing test does not show.
                let _ = writeln!(std::io::stderr(), "SKIPPED, not tested on PostgreSQL: {why}");
                Ok(None)
            }
        }
    }

    /// A new database on a server.
    pub async fn on(server: &postgres::Server) -> Result<Self> {
        let name = format!("test_{}", Uuid::now_v7().simple());
        let mut connection = PgConnection::connect(&server.url("postgres")).await?;
        sqlx::raw_sql(AssertSqlSafe(format!("create database {name}"))).execute(&mut connection).await?;
        connection.close().await?;
        Ok(Self { url: server.url(&name), folder: None })
    }

    /// As `--database` takes it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether it is PostgreSQL.
    pub fn is_postgres(&self) -> bool {
        self.folder.is_none()
    }

    /// Opens it as a host would.
    pub async fn open(&self) -> Arc<dyn Store> {
        self.try_open().await.expect("the database opens")
    }

    /// Opens it as a host would, or says why not.
    pub async fn try_open(&self) -> Result<Arc<dyn Store>, stepwell::store::OpenError> {
        stepwell::store::open(&self.url, Uuid::now_v7()).await
    }

    /// Runs SQL behind the store's back.
    pub async fn execute(&self, sql: &str) -> Result<()> {
        let sql = AssertSqlSafe(sql.to_owned());
        if self.is_postgres() {
            sqlx::raw_sql(sql).execute(&mut PgConnection::connect(&self.url).await?).await?;
        } else {
            sqlx::raw_sql(sql).execute(&mut SqliteConnection::connect(&self.url).await?).await?;
        }
        Ok(())
    }

    /// The numbers that a query gives, behind the store's back.
    pub async fn numbers(&self, sql: &str) -> Result<Vec<i64>> {
        let sql = AssertSqlSafe(sql.to_owned());
        Ok(if self.is_postgres() {
            sqlx::query_scalar(sql).fetch_all(&mut PgConnection::connect(&self.url).await?).await?
        } else {
            sqlx::query_scalar(sql).fetch_all(&mut SqliteConnection::connect(&self.url).await?).await?
        })
    }

    /// The texts that a query gives, behind the store's back.
    pub async fn texts(&self, sql: &str) -> Result<Vec<String>> {
        let sql = AssertSqlSafe(sql.to_owned());
        Ok(if self.is_postgres() {
            sqlx::query_scalar(sql).fetch_all(&mut PgConnection::connect(&self.url).await?).await?
        } else {
            sqlx::query_scalar(sql).fetch_all(&mut SqliteConnection::connect(&self.url).await?).await?
        })
    }

    /// How many rows a table has.
    pub async fn count(&self, table: &str) -> Result<i64> {
        let counts = self.numbers(&format!("select count(*) from {table}")).await?;
        counts.first().copied().with_context(|| format!("no count of {table}"))
    }

    /// Every table that belongs to Stepwell.
    pub async fn tables(&self) -> Result<Vec<String>> {
        self.texts(if self.is_postgres() {
            "select table_name::text from information_schema.tables
             where table_schema = 'public' and table_name not like '\\_sqlx%' order by 1"
        } else {
            "select name from sqlite_master
             where type = 'table' and name not like '\\_sqlx%' escape '\\' and name not like 'sqlite%' order by 1"
        })
        .await
    }
}

/// Runs a test on SQLite.
pub fn run_on_sqlite<F: Future<Output = Result<()>>>(case: impl FnOnce(TestDb) -> F) {
    run(async { case(TestDb::sqlite()?).await });
}

/// Runs a test on PostgreSQL, or skips it.
pub fn run_on_postgres<F: Future<Output = Result<()>>>(case: impl FnOnce(TestDb) -> F) {
    run(async {
        match TestDb::postgres().await? {
            Some(db) => case(db).await,
            None => Ok(()),
        }
    });
}

/// Runs a test on the kind of runtime that a host has.
pub fn run(case: impl Future<Output = Result<()>>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let limited = async {
        tokio::time::timeout(Duration::from_secs(TEST_SECONDS_MAX), case).await.context("the test hangs")?
    };
    let result: Result<()> = runtime.expect("a runtime").block_on(limited);
    if let Err(error) = result {
        panic!("{error:?}");
    }
}

/// Makes two tests of each `async fn case(db: TestDb) -> anyhow::Result<()>`, in modules `sqlite` and `postgres`.
#[macro_export]
macro_rules! on_both_databases {
    ($($case:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test] fn $case() { $crate::db::run_on_sqlite(super::$case); })+
        }
        mod postgres {
            $(#[test] fn $case() { $crate::db::run_on_postgres(super::$case); })+
        }
    };
}

/// Makes a test of each `async fn case(db: TestDb) -> anyhow::Result<()>`, for what only PostgreSQL has.
#[macro_export]
macro_rules! on_postgres {
    ($($case:ident),+ $(,)?) => {
        mod postgres {
            $(#[test] fn $case() { $crate::db::run_on_postgres(super::$case); })+
        }
    };
}
