//! One transaction for a batch of transitions, the same on both databases.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::driver::{Driver, Transaction};
use super::error::Fault;
use super::guard;
use super::prepare::{Data, Prepared, Row};
use crate::engine::port::store::{Result, Turn};
use crate::engine::port::{Hint, StoreError, Verdict};
use crate::failpoint::{self, Point};
use crate::metrics as names;

/// Writes a batch. Data that the database refuses costs its own transition only: the batch is halved until the
/// culprit stands alone.
pub(super) async fn commit<D: Driver>(
    driver: &D,
    sets: &[Arc<Prepared>],
    turn: &Turn,
) -> Result<Vec<Verdict>> {
    let begun = Instant::now();
    let mut verdicts: Vec<Verdict> = Vec::with_capacity(sets.len());
    // Ranges that are still to be written, the first one last.
    let mut rest: Vec<Range<usize>> = std::iter::once(0..sets.len()).collect();
    while let Some(range) = rest.pop() {
        if range.is_empty() {
            continue;
        }
        metrics::counter!(names::STORE_TRANSACTIONS, "kind" => "batch").increment(1);
        match driver.transact(&sets[range.clone()], turn).await {
            Ok(done) => {
                failpoint::pass(Point::CommitDone);
                driver.announce(hints(&sets[range], &done));
                verdicts.extend(done);
            }
            Err(Fault::Data(why)) if range.len() == 1 => verdicts.push(Verdict::Refused(why)),
            Err(Fault::Data(_)) => {
                let middle = range.start + range.len() / 2;
                rest.push(middle..range.end);
                rest.push(range.start..middle);
            }
            Err(fault) => return Err(part_way(fault, &verdicts)),
        }
    }
    measure(begun, &verdicts);
    Ok(verdicts)
}

/// Checks the guards of a batch and writes what passes. Runs inside a transaction that the driver began and ends.
pub(super) async fn decide(
    tx: &mut dyn Transaction,
    sets: &[Arc<Prepared>],
) -> std::result::Result<Vec<Verdict>, Fault> {
    let verdicts = guard::check(tx, sets).await?;
    failpoint::pass(Point::CommitGuarded);
    write(tx, sets, &verdicts, false).await?;
    Ok(verdicts)
}

/// The same without looking first: every guarded row is changed by its own statement only from the version that was
/// read. None if one of them had another: then the driver rolls back, and calls [`decide`].
pub(super) async fn decide_swiftly(
    tx: &mut dyn Transaction,
    sets: &[Arc<Prepared>],
) -> std::result::Result<Option<Vec<Verdict>>, Fault> {
    let Some(verdicts) = guard::presume(tx, sets).await? else { return Ok(None) };
    failpoint::pass(Point::CommitGuarded);
    Ok(write(tx, sets, &verdicts, true).await?.then_some(verdicts))
}

/// Writes the transitions that may be written; whether all rows were there that `all_there` asks for.
async fn write(
    tx: &mut dyn Transaction,
    sets: &[Arc<Prepared>],
    verdicts: &[Verdict],
    all_there: bool,
) -> std::result::Result<bool, Fault> {
    let winners = sets.iter().zip(verdicts).filter(|(_, verdict)| **verdict == Verdict::Applied);
    let mut rows: Vec<Row<'_>> = winners.flat_map(|(set, _)| set.rows()).collect();
    rows.sort_by(|one, other| (one.kind, one.name).cmp(&(other.kind, other.name)));
    for same_kind in rows.chunk_by(|one, other| one.kind == other.kind) {
        let kind = same_kind[0].kind;
        let Some(statement) = kind.statement() else { continue };
        let writes: Vec<Data<'_>> = same_kind.iter().map(|row| row.data).collect();
        let written = tx.write(statement, &writes).await?;
        failpoint::pass(Point::CommitStatement);
        if all_there && kind.expects_its_rows() && written < writes.len() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Hints of what was written.
fn hints(sets: &[Arc<Prepared>], verdicts: &[Verdict]) -> Vec<Hint> {
    let written = sets.iter().zip(verdicts).filter(|(_, verdict)| **verdict == Verdict::Applied);
    written.flat_map(|(set, _)| set.set.hints.iter().cloned()).collect()
}

/// A fault after a part of the batch was written: nobody may take it for "nothing was written".
fn part_way(fault: Fault, verdicts: &[Verdict]) -> StoreError {
    let error = StoreError::from(fault);
    if verdicts.contains(&Verdict::Applied) {
        return StoreError::Unknown(format!("a part of the batch was written, then: {error}"));
    }
    error
}

fn measure(begun: Instant, verdicts: &[Verdict]) {
    metrics::histogram!("stepwell_commit_seconds").record(begun.elapsed().as_secs_f64());
    #[expect(clippy::cast_precision_loss, reason = "a batch has few hundred transitions")]
    metrics::histogram!("stepwell_commit_transitions").record(verdicts.len() as f64);
    let conflicts = verdicts.iter().filter(|verdict| **verdict == Verdict::Conflict).count();
    if conflicts > 0 {
        metrics::counter!("stepwell_commit_conflicts_total").increment(conflicts as u64);
    }
}
