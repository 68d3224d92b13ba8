//! A transition made ready for the database: its rows in the order of the statements, each once.

use serde::Serialize;

use super::order::{self, Kind, Name};
use super::pages::{self, Page};
use crate::engine::port::{Write, WriteSet};

/// A transition as the database takes it. It owns its data, so that it outlives the request that made it.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Without its lines of the journal.
    pub(super) set: WriteSet,
    /// What its lines of the journal have become.
    pages: Vec<Page>,
    /// By kind and name; the last write of a row is the one that counts.
    rows: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    kind: Kind,
    name: Name,
    /// Which of the set's writes, or of the pages.
    at: usize,
}

/// A row to write.
pub(super) struct Row<'a> {
    pub(super) kind: Kind,
    pub(super) name: &'a Name,
    pub(super) data: Data<'a>,
}

/// What a row says.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub(super) enum Data<'a> {
    Write(&'a Write),
    Page(&'a Page),
}

impl Prepared {
    /// Makes a transition ready.
    pub(super) fn new(mut set: WriteSet) -> Self {
        let pages = pages::take(&mut set.writes);
        let mut rows: Vec<Place> = Vec::with_capacity(set.writes.len() + pages.len());
        for (at, write) in set.writes.iter().enumerate() {
            let (kind, name) = order::classify(write);
            // What was set and withdrawn within one transition never was; what was there before still goes.
            let undone = match kind {
                Kind::CancelTimer => Some(Kind::UpsertTimer),
                Kind::DeleteSubscription => Some(Kind::InsertSubscription),
                _ => None,
            };
            if let Some(undone) = undone {
                rows.retain(|row| row.kind != undone || row.name != name);
            }
            rows.push(Place { kind, name, at });
        }
        let page =
            |(at, page): (usize, &Page)| Place { kind: Kind::InsertJournal, name: Name::Id(page.id()), at };
        rows.extend(pages.iter().enumerate().map(page));
        rows.sort_by(|one, other| (one.kind, &one.name, other.at).cmp(&(other.kind, &other.name, one.at)));
        rows.dedup_by(|next, kept| (next.kind, &next.name) == (kept.kind, &kept.name));
        Self { set, pages, rows }
    }

    /// Its rows, by kind and name.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().filter_map(|place| {
            let data = match place.kind {
                Kind::InsertJournal => Data::Page(self.pages.get(place.at)?),
                _ => Data::Write(self.set.writes.get(place.at)?),
            };
            Some(Row { kind: place.kind, name: &place.name, data })
        })
    }
}

/// The JSON array of some rows.
pub(super) fn array(rows: &[impl serde::Serialize]) -> Result<String, super::error::Fault> {
    serde_json::to_string(rows)
        .map_err(|error| super::error::Fault::Data(format!("a row is no JSON: {error}")))
}
