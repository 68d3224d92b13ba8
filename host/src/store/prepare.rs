//! A transition made ready for the database: rows as JSON text, each once.

use std::collections::BTreeMap;

use super::order::{self, Kind};
use crate::domain::InstanceId;
use crate::engine::port::{Guard, Hint, Write, WriteSet};

/// A transition as the database takes it. It owns its data, so that it outlives the request that made it.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) guards: Vec<PreparedGuard>,
    /// By kind and name; the last write of a row is the one that counts.
    pub(super) rows: BTreeMap<(Kind, String), String>,
    /// Idempotency keys that it takes: name, instance, row.
    pub(super) start_keys: Vec<PreparedStartKey>,
    pub(super) hints: Vec<Hint>,
}

/// A guard with its row.
#[derive(Debug)]
pub(super) struct PreparedGuard {
    pub(super) guard: Guard,
    pub(super) row: String,
}

/// An idempotency key that is taken.
#[derive(Debug)]
pub(super) struct PreparedStartKey {
    pub(super) name: String,
    pub(super) instance_id: InstanceId,
    pub(super) row: String,
}

/// Makes a transition ready. The error is a sentence: its data cannot be JSON.
pub(super) fn prepare(set: &WriteSet) -> Result<Prepared, String> {
    let mut guards = Vec::with_capacity(set.guards.len());
    for guard in &set.guards {
        guards.push(PreparedGuard { guard: guard.clone(), row: json(guard)? });
    }
    let mut rows = BTreeMap::new();
    let mut start_keys = Vec::new();
    for write in &set.writes {
        let (kind, name) = order::classify(write);
        match (kind, write) {
            (_, Write::InsertStartKey(key)) => {
                start_keys.push(PreparedStartKey { name, instance_id: key.instance_id, row: json(write)? });
                continue;
            }
            // What was set and withdrawn within one transition never was; what was there before still goes.
            (Kind::CancelTimer, _) => drop(rows.remove(&(Kind::UpsertTimer, name.clone()))),
            (Kind::DeleteSubscription, _) => drop(rows.remove(&(Kind::InsertSubscription, name.clone()))),
            _ => {}
        }
        rows.insert((kind, name), json(write)?);
    }
    Ok(Prepared { guards, rows, start_keys, hints: set.hints.clone() })
}

/// The JSON array of some rows.
pub(super) fn array<'a>(rows: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::from("[");
    for row in rows {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(row);
    }
    text.push(']');
    text
}

fn json(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| format!("a row cannot be written as JSON: {error}"))
}
