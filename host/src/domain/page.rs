//! Pages of a list.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Which part of a list: rows after a cursor, newest first.
#[derive(Clone, Debug, Default)]
pub struct PageRequest {
    /// The last id of the page before.
    pub after: Option<Uuid>,
    /// How many rows; the store never returns more.
    pub limit: u32,
}

/// A part of a list, with the cursor of the next one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Pass it as `after` for the next page; absent on the last one.
    pub next: Option<Uuid>,
}

impl<T> Page<T> {
    /// A page from up to `limit + 1` rows: one more than asked for shows that there is a next page.
    pub fn from_rows(mut items: Vec<T>, limit: u32, id: impl Fn(&T) -> Uuid) -> Self {
        let limit = limit as usize;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(id) } else { None };
        Self { items, next }
    }
}
