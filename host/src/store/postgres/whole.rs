//! A whole batch as one statement, which is a transaction of its own: one round trip instead of one for each table.
//!
//! It is put together from the statements of [`crate::store::statement`], each a part of a `with`. All parts see the
//! database as it was before, so only kinds that never touch the same row are taken together; whatever else a batch
//! has sends it the longer way, statement by statement.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use uuid::Uuid;

use crate::engine::port::Guard;
use crate::store::error::Fault;
use crate::store::order::Kind;
use crate::store::prepare::Prepared;
use crate::store::records::Layout;

/// Kinds that can be written together.
const KINDS: [Kind; 12] = [
    Kind::InsertInstance,
    Kind::UpdateInstance,
    Kind::UpsertStep,
    Kind::InsertTask,
    Kind::UpdateTask,
    Kind::LockTask,
    Kind::FireTimer,
    Kind::CancelTimer,
    Kind::UpsertTimer,
    Kind::UpsertWait,
    Kind::InsertBlob,
    Kind::InsertJournal,
];

/// Parameters before those of the parts: the lane's id, number and time; tenants, keys and versions of workflows.
const OWN_PARAMETERS: usize = 6;

/// Which kinds a batch has, one bit for each.
type Shape = u16;

/// The texts that were needed so far. There are few: what happens together happens again.
static TEXTS: LazyLock<Mutex<HashMap<Shape, Arc<str>>>> = LazyLock::new(Mutex::default);

/// What tells whether the transaction was committed.
pub(super) struct Seal {
    pub(super) id: Uuid,
    pub(super) number: i64,
    pub(super) at: DateTime<Utc>,
}

/// Whether a batch can be written as one statement.
pub(super) fn fits(sets: &[Arc<Prepared>]) -> bool {
    let plain = |guard: &Guard| {
        matches!(
            guard,
            Guard::Instance { .. } | Guard::Task { .. } | Guard::Timer { .. } | Guard::NewestVersion { .. }
        )
    };
    // A timer that is set again as it fires is one key with two rows, one after the other; one that is withdrawn may
    // have been set or fired just before.
    let apart = |set: &Prepared| {
        let has = |kind: Kind| set.rows().any(|row| row.kind == kind);
        let timers = [Kind::FireTimer, Kind::CancelTimer, Kind::UpsertTimer];
        timers.into_iter().filter(|kind| has(*kind)).count() < 2
    };
    let fine = |set: &Arc<Prepared>| {
        set.set.guards.iter().all(plain) && set.rows().all(|row| KINDS.contains(&row.kind)) && apart(set)
    };
    sets.iter().all(fine)
}

/// The statement of a batch that fits, with its rows. It ends with the code of [`CHANGED`] if a row is not as it was.
pub(super) fn query(
    sets: &[Arc<Prepared>],
    seal: &Seal,
) -> Result<Query<'static, sqlx::Postgres, PgArguments>, Fault> {
    let mut rows: Vec<_> = sets.iter().flat_map(|set| set.rows()).collect();
    rows.sort_by(|one, other| (one.kind, one.name).cmp(&(other.kind, other.name)));
    let shape = rows.iter().fold(0, |shape: Shape, row| {
        shape | KINDS.iter().position(|kind| *kind == row.kind).map_or(0, |bit| 1 << bit)
    });
    let (tenants, keys, versions) = newest(sets);
    let mut query = sqlx::query(AssertSqlSafe(text(shape)))
        .bind(seal.id)
        .bind(seal.number)
        .bind(seal.at)
        .bind(tenants)
        .bind(keys)
        .bind(versions);
    for same_kind in rows.chunk_by(|one, other| one.kind == other.kind) {
        let Some(statement) = same_kind[0].kind.statement() else { continue };
        let writes: Vec<_> = same_kind.iter().map(|row| row.data).collect();
        let unfit = |why| Fault::Data(format!("{}: {why}", statement.name));
        let layout = statement.layout().ok_or_else(|| Fault::Broken("takes no records".into()))?;
        query = query.bind(layout.fill(&writes).map_err(unfit)?);
    }
    Ok(query)
}

/// The code with which the statement ends if it would not have changed all rows.
pub(super) const CHANGED: &str = "SW001";

/// The newest versions of workflows that starts of a batch rely on, each once.
fn newest(sets: &[Arc<Prepared>]) -> (Vec<String>, Vec<String>, Vec<i32>) {
    let mut seen: Vec<(&str, &str, i32)> = Vec::new();
    for guard in sets.iter().flat_map(|set| &set.set.guards) {
        if let Guard::NewestVersion { tenant, key, version } = guard {
            let relied_on = (tenant.as_str(), key.as_str(), *version);
            if !seen.contains(&relied_on) {
                seen.push(relied_on);
            }
        }
    }
    let texts = |of: fn(&(&str, &str, i32)) -> String| seen.iter().map(of).collect();
    (texts(|row| row.0.to_owned()), texts(|row| row.1.to_owned()), seen.iter().map(|row| row.2).collect())
}

fn text(shape: Shape) -> Arc<str> {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(texts.entry(shape).or_insert_with(|| write_text(shape).into()))
}

fn write_text(shape: Shape) -> String {
    let mut text = String::from(
        "with seal as (\n\
         insert into workflow_lanes (id, number, touched_at) values ($1::uuid, $2::bigint, $3::timestamptz)\n\
         on conflict (id) do update set number = excluded.number, touched_at = excluded.touched_at\n\
         where workflow_lanes.number < excluded.number returning 1\n)",
    );
    // The seal is read first, so that its row is locked before all others: who looks for a lost answer waits for it.
    let mut fine = String::from(
        "(select count(*) from seal) = 1\nand (select count(*) from unnest($4::text[], $5::text[], $6::integer[]) as r (tenant, key, version)\n\
         where coalesce((select max(d.version) from workflow_definitions as d\n\
         where d.tenant = r.tenant and d.key = r.key), 0) = r.version) = cardinality($4::text[])",
    );
    let mut parameters = OWN_PARAMETERS;
    for (bit, kind) in KINDS.iter().enumerate().filter(|(bit, _)| shape & (1 << bit) != 0) {
        let Some(statement) = kind.statement() else { continue };
        let (part, count) = shifted(statement.postgres, parameters);
        let _ = write!(text, ", part_{bit} as (\n{part}");
        if kind.expects_its_rows() {
            text.push_str("returning 1");
            let (rows, row) = (parameters + 1, statement.layout().map_or("", Layout::type_name));
            let _ = write!(fine, "\nand (select count(*) from part_{bit}) = cardinality(${rows}::{row}[])");
        }
        text.push_str("\n)");
        parameters += count;
    }
    let _ = write!(text, "\nselect workflow_expect({fine})");
    text
}

/// A statement without its comments, its parameters numbered from a later one on; and how many it has.
fn shifted(sql: &str, by: usize) -> (String, usize) {
    let mut text = String::with_capacity(sql.len());
    let mut last = 0;
    for line in sql.lines().filter(|line| !line.trim_start().starts_with("--")) {
        let mut pieces = line.split('$');
        text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let digits = piece.len() - piece.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, rest) = piece.split_at(digits);
            let number: usize = number.parse().unwrap_or_default();
            last = last.max(number);
            let _ = write!(text, "${}{rest}", number + by);
        }
        text.push('\n');
    }
    (text, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_takes_one_array_of_records() {
        for kind in KINDS {
            let statement = kind.statement().unwrap();
            let layout = statement.layout().unwrap();
            assert_eq!(layout.type_name(), format!("workflow_{}_row", statement.name));
            assert_eq!(shifted(statement.postgres, 0).1, 1, "{}", statement.name);
        }
    }

    #[test]
    fn a_text_has_the_parts_of_its_shape_and_every_parameter() {
        let all: Shape = (1 << KINDS.len()) - 1;
        let text = write_text(all);
        for number in 1..=OWN_PARAMETERS + KINDS.len() {
            assert!(text.contains(&format!("${number}::")), "${number} in\n{text}");
        }
        assert!(!text.contains(&format!("${}", OWN_PARAMETERS + KINDS.len() + 1)));
        assert!(!write_text(1).contains("part_1"));
    }
}
