//! What to do with a schedule when its time has come: a pure function of its row, the time and the instance before.

use stepwell_schedule::{Cron, Zone};

use crate::domain::Timestamp;
use crate::domain::schedule::Schedule;
use crate::domain::trigger::{Misfire, Overlap};

/// A due time that is taken later than this was missed: no host was there for it.
pub(super) const MISSED_AFTER_MS: i64 = 60_000;
/// Missed due times that `fire_all` makes up for; later ones, up to now, are left out.
pub(super) const MADE_UP_MAX: i32 = 100;
/// How often a queue is looked at if nothing else wakes it.
const QUEUE_LOOK_MS: i64 = 60_000;
/// Windows in which the last due time before now is looked for, the shortest first.
const LOOK_BACK_MS: [i64; 5] = [60_000, 3_600_000, 86_400_000, 32 * 86_400_000, 366 * 86_400_000];

/// What to do.
#[derive(Debug, PartialEq)]
pub(super) struct Plan {
    /// Start an instance for this due time.
    pub(super) start: Option<Timestamp>,
    /// The schedule as it shall be.
    pub(super) row: Schedule,
}

/// What to do with a schedule now. `still_runs` tells of the instance that it started last.
pub(super) fn plan(row: &Schedule, now: Timestamp, still_runs: bool) -> Plan {
    let mut next = row.clone();
    let Some(due) = row.next_at.filter(|at| *at <= now && !row.paused) else {
        next.due_at = row.next_at.filter(|_| !row.paused);
        return Plan { start: None, row: next };
    };
    let waited = row.queued_until.is_some_and(|until| due <= until);
    let missed = !waited && now.millis() - due.millis() > MISSED_AFTER_MS;
    // The first due time after this one was not missed.
    let recent = now.plus_millis(-MISSED_AFTER_MS - 1);
    let mut start = Some(due);
    let mut after = due;
    match row.misfire {
        Misfire::Skip if missed => (start, after) = (None, recent),
        Misfire::FireAll if missed && row.made_up >= MADE_UP_MAX => (start, after) = (None, recent),
        Misfire::FireOnce if missed => (start, after) = (Some(latest(row, due, now)), now),
        _ => {}
    }
    let made_up = missed && start.is_some();
    if start.is_some() && still_runs {
        match row.overlap {
            Overlap::Allow => {}
            Overlap::Skip => start = None,
            Overlap::Queue => {
                // What was missed stays so, and its rule holds when the queue moves; of `fire_once` only one waits.
                match (missed, row.misfire) {
                    (true, Misfire::FireOnce) => (next.next_at, next.queued_until) = (start, Some(now)),
                    (true, _) => {}
                    (false, _) => next.queued_until = Some(now),
                }
                next.due_at = Some(now.plus_millis(QUEUE_LOOK_MS));
                return Plan { start: None, row: next };
            }
        }
    }
    next.made_up = if made_up { row.made_up + 1 } else { 0 };
    next.next_at = following(row, after);
    next.due_at = next.next_at;
    next.queued_until = row.queued_until.filter(|until| next.next_at.is_some_and(|at| at <= *until));
    Plan { start, row: next }
}

/// The first due time after a moment; none if there is none any more.
pub(super) fn following(row: &Schedule, after: Timestamp) -> Option<Timestamp> {
    let zone = Zone::named(&row.time_zone).ok()?;
    let next = Cron::parse(&row.cron, zone).ok()?.next(after.millis()).ok()?;
    Some(Timestamp::from_millis(next))
}

/// The last due time up to now, which is not before `due`.
fn latest(row: &Schedule, due: Timestamp, now: Timestamp) -> Timestamp {
    for window in LOOK_BACK_MS {
        let from = now.plus_millis(-window);
        if from < due {
            break;
        }
        let Some(mut found) = following(row, from).filter(|at| *at <= now) else { continue };
        while let Some(later) = following(row, found).filter(|at| *at <= now) {
            found = later;
        }
        return found;
    }
    // It runs so rarely that there are few between.
    let mut found = due;
    while let Some(later) = following(row, found).filter(|at| *at <= now) {
        found = later;
    }
    found
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
