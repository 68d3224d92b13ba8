//! Arguments and rows of the store's statements: JSON texts both.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::error::Fault;
use super::statement::Statement;
use crate::domain::page::PageRequest;
use crate::domain::task::TaskStatus;
use crate::engine::port::store::{Result, TaskLease};
use crate::engine::port::{Hint, StoreError};

/// Adds the page to an argument; one row more than asked for tells that there is a next page.
pub(super) fn paged(page: &PageRequest, mut argument: Value) -> Value {
    argument["after"] = json!(page.after);
    argument["rows_max"] = json!(u64::from(page.limit) + 1);
    argument
}

/// Each row as what it is.
pub(super) fn parse<T: DeserializeOwned>(
    statement: &'static Statement,
    rows: std::result::Result<Vec<String>, Fault>,
) -> Result<Vec<T>> {
    let unreadable = |error| StoreError::Broken(format!("{}: a row cannot be read: {error}", statement.name));
    rows?.iter().map(|row| serde_json::from_str(row).map_err(unreadable)).collect()
}

/// The task that did the work has panicked, or the host is going down.
pub(super) fn ended(error: tokio::task::JoinError) -> StoreError {
    StoreError::Unknown(format!("the task that wrote has ended early: {error}"))
}

/// What other hosts shall know of leases that were given back.
pub(super) fn released(leases: &[TaskLease], written: &[bool]) -> Vec<Hint> {
    let pending = leases
        .iter()
        .zip(written)
        .filter(|(lease, written)| **written && lease.task.status == TaskStatus::Pending);
    let hint = |lease: &TaskLease| Hint::Tasks {
        tenant: lease.task.tenant.clone(),
        task_type: lease.task.task_type.clone(),
        count: 1,
    };
    pending.map(|(lease, _)| hint(lease)).collect()
}
