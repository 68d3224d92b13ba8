//! What a database must be able to do; all else is shared.

use std::sync::Arc;

use async_trait::async_trait;

use super::error::Fault;
use super::prepare::{Data, Prepared, array};
use super::statement::Statement;
use crate::engine::port::store::Turn;
use crate::engine::port::{Hint, Verdict};

/// A connection within a transaction.
#[async_trait]
pub(super) trait Transaction: Send {
    /// Runs a statement; one JSON text for each row.
    async fn query(&mut self, statement: &'static Statement, argument: &str) -> Result<Vec<String>, Fault>;

    /// Runs a statement that writes rows; how many it says that it wrote, if it says so.
    async fn write(&mut self, statement: &'static Statement, rows: &[Data<'_>]) -> Result<usize, Fault> {
        Ok(self.query(statement, &array(rows)?).await?.len())
    }
}

/// A statement that is a transaction of its own.
#[derive(Clone, Copy)]
pub(super) struct Single {
    /// What is run.
    pub(super) statement: &'static Statement,
    /// What tells, from the same argument, what was done by a first try whose answer was lost. Without it a
    /// second try is simply made: what the first one has leased is found again when the lease runs out.
    pub(super) found: Option<&'static Statement>,
}

/// A database.
#[async_trait]
pub(super) trait Driver: Send + Sync + 'static {
    /// Runs a statement that changes nothing.
    async fn read(&self, statement: &'static Statement, argument: &str) -> Result<Vec<String>, Fault>;

    /// Runs a statement that is a transaction of its own.
    async fn write(&self, write: Single, argument: &str) -> Result<Vec<String>, Fault>;

    /// Runs [`super::commit::decide`] in a transaction, again if it must. On a fault nothing is written. May end the turn
    /// when only the disk is waited for.
    async fn transact(&self, sets: &[Arc<Prepared>], turn: &Turn) -> Result<Vec<Verdict>, Fault>;

    /// How many commits it can work on at once.
    fn commits_at_once(&self) -> usize;

    /// Whether other hosts may write to the same database.
    fn shared(&self) -> bool;

    /// Tells other hosts, if there can be any.
    fn announce(&self, hints: Vec<Hint>);

    /// Waits for hints of other hosts.
    async fn next_hints(&self) -> Vec<Hint>;

    /// Ends connections.
    async fn close(&self);
}
