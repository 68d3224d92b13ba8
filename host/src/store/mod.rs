//! The database, whichever it is: PostgreSQL for any number of hosts, SQLite for one.
//!
//! Rows travel between Rust and SQL as JSON: every statement is a pair of files in `sql/`, takes one JSON
//! text and returns one JSON text a row, with the columns' names as the names of fields. So a dialect is its
//! SQL, and a driver is little more than "run this statement". What both share, from the order of writes to
//! the check of guards, is written once, in [`commit`].

mod commit;
mod driver;
mod error;
mod events;
mod field;
mod guard;
mod migrate;
mod order;
mod outgoing;
mod pages;
mod patience;
mod postgres;
pub mod preload;
mod prepare;
pub mod raw;
mod records;
mod room;
mod rows;
mod sqlite;
mod statement;
mod task_queries;
mod time;
mod workers;

use std::sync::Arc;

use uuid::Uuid;

use crate::engine::port::Store;

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Neither of the two databases.
    #[error("'{0}' is not a database that Stepwell knows: write sqlite:PATH or postgres://USER@HOST/NAME")]
    Scheme(String),
    /// The address makes no sense.
    #[error("the database's address cannot be read: {0}")]
    Address(String),
    /// Nobody answers.
    #[error("the database at {at} cannot be reached: {why}; is it running, and is the address right?")]
    Unreachable {
        /// Where, without the password.
        at: String,
        /// What the driver said.
        why: String,
    },
    /// It answers, and turns us away.
    #[error("the database at {at} refused the login: {why}; check user, password and name of the database")]
    Denied {
        /// Where, without the password.
        at: String,
        /// What the server said.
        why: String,
    },
    /// A newer host was here before.
    #[error(
        "the database is at schema {found}, this binary knows {known}: start a binary at least as new as the \
         one that used the database last"
    )]
    Newer {
        /// The database's schema.
        found: i64,
        /// This binary's schema.
        known: i64,
    },
    /// Another host holds the SQLite file.
    #[error(
        "the database {path} is in use by another host: SQLite serves one host at a time; stop the other one, \
         or use PostgreSQL"
    )]
    InUse {
        /// The database's file.
        path: String,
    },
    /// The file or its folder cannot be used.
    #[error("the database {path} cannot be opened: {why}")]
    File {
        /// The database's file.
        path: String,
        /// What the system said.
        why: String,
    },
    /// A migration did not go through.
    #[error("the database's schema cannot be brought up to date: {0}")]
    Migration(String),
}

/// Opens `sqlite:PATH` or `postgres://…` and brings its schema up to date. `node` names this host: it does not
/// hear its own hints.
pub async fn open(url: &str, node: Uuid) -> Result<Arc<dyn Store>, OpenError> {
    let scheme = url.split(':').next().unwrap_or_default();
    match scheme {
        "sqlite" => Ok(Arc::new(room::Room::new(sqlite::Sqlite::open(url).await?))),
        "postgres" | "postgresql" => {
            Ok(Arc::new(room::Room::new(postgres::Postgres::open(url, node).await?)))
        }
        // Only the scheme is shown: the rest may hold a password.
        other => Err(OpenError::Scheme(other.chars().take(32).collect())),
    }
}
