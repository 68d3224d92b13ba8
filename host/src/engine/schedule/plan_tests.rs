//! What is done at a due time, case by case.

use super::*;
use crate::domain::{ScheduleId, TenantId};
use serde_json::json;

/// 2026-01-01T00:00:00Z.
const DAY0: i64 = 1_767_225_600_000;
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(DAY0 + ms)
}

/// Every day at two, due on the first.
fn daily(misfire: Misfire, overlap: Overlap) -> Schedule {
    Schedule {
        id: ScheduleId::new(),
        tenant: TenantId::default(),
        workflow_key: "w".into(),
        workflow_version: 1,
        trigger_id: "cron-1".into(),
        cron: "0 2 * * *".into(),
        time_zone: "UTC".into(),
        misfire,
        overlap,
        context: json!({}),
        paused: false,
        next_at: Some(at(2 * HOUR)),
        queued_until: None,
        made_up: 0,
        last_at: None,
        last_instance_id: None,
        last_error: None,
        due_at: Some(at(2 * HOUR)),
        version: 0,
        created_at: at(0),
        updated_at: at(0),
    }
}

/// Starts until nothing is due any more, each beside a last instance that has ended.
fn starts(mut row: Schedule, now: Timestamp) -> (Vec<Timestamp>, Schedule) {
    let mut found = Vec::new();
    for _ in 0..1_000 {
        let plan = plan(&row, now, false);
        found.extend(plan.start);
        row = plan.row;
        if row.due_at.is_none_or(|at| at > now) {
            return (found, row);
        }
    }
    panic!("no end to it");
}

#[test]
fn a_due_time_starts_once_and_the_next_one_follows() {
    let row = daily(Misfire::Skip, Overlap::Allow);
    let early = plan(&row, at(2 * HOUR - 1), false);
    assert_eq!((early.start, early.row), (None, row.clone()));
    let (started, row) = starts(row, at(2 * HOUR + 10));
    assert_eq!(
        (started, row.next_at, row.due_at),
        (vec![at(2 * HOUR)], Some(at(DAY + 2 * HOUR)), row.next_at)
    );
}

#[test]
fn missed_due_times_are_made_up_for_as_the_trigger_says() {
    let now = at(5 * DAY + 3 * HOUR);
    let next = Some(at(6 * DAY + 2 * HOUR));
    for (misfire, expected) in [
        (Misfire::Skip, vec![]),
        (Misfire::FireOnce, vec![at(5 * DAY + 2 * HOUR)]),
        (Misfire::FireAll, (0..6).map(|day| at(day * DAY + 2 * HOUR)).collect()),
    ] {
        let (started, row) = starts(daily(misfire, Overlap::Allow), now);
        assert_eq!((started, row.next_at), (expected, next), "{misfire:?}");
    }
}

#[test]
fn what_is_hardly_late_was_not_missed() {
    let now = at(5 * DAY + 2 * HOUR + MISSED_AFTER_MS);
    let (started, _) = starts(daily(Misfire::Skip, Overlap::Allow), now);
    assert_eq!(started, [at(5 * DAY + 2 * HOUR)], "the last one was not missed, the others were");
}

#[test]
fn making_up_is_bounded() {
    let row = Schedule { cron: "* * * * * *".into(), ..daily(Misfire::FireAll, Overlap::Allow) };
    let now = at(400 * DAY);
    let (started, row) = starts(row, now);
    let missed = started.iter().filter(|due| now.millis() - due.millis() > MISSED_AFTER_MS).count();
    assert_eq!(missed, MADE_UP_MAX as usize);
    assert_eq!(row.next_at, Some(at(400 * DAY + 1_000)));
    let row = Schedule { cron: "* * * * * *".into(), ..daily(Misfire::FireOnce, Overlap::Allow) };
    let (started, _) = starts(row, now);
    assert_eq!(started, [now], "one start for all, at the last due time");
}

#[test]
fn an_instance_that_still_runs_is_minded() {
    let now = at(2 * HOUR + 10);
    let allowed = plan(&daily(Misfire::FireOnce, Overlap::Allow), now, true);
    assert_eq!(allowed.start, Some(at(2 * HOUR)));
    let skipped = plan(&daily(Misfire::FireOnce, Overlap::Skip), now, true);
    assert_eq!((skipped.start, skipped.row.next_at), (None, Some(at(DAY + 2 * HOUR))));
    let queued = plan(&daily(Misfire::Skip, Overlap::Queue), now, true);
    assert_eq!((queued.start, queued.row.next_at), (None, Some(at(2 * HOUR))), "it waits");
    // Three days later it has ended: what waited was not missed, and starts one after the other.
    let now = at(2 * DAY + 3 * HOUR);
    let later = plan(&queued.row, now, true);
    assert_eq!(later.row.queued_until, Some(now));
    let (started, row) = starts(later.row, now);
    assert_eq!(started, [at(2 * HOUR), at(DAY + 2 * HOUR), at(2 * DAY + 2 * HOUR)]);
    assert_eq!((row.queued_until, row.next_at), (None, Some(at(3 * DAY + 2 * HOUR))));
}

#[test]
fn one_that_is_paused_or_has_no_time_left_is_let_alone() {
    let now = at(DAY);
    let paused = Schedule { paused: true, ..daily(Misfire::FireAll, Overlap::Allow) };
    let over = Schedule { next_at: None, ..daily(Misfire::FireAll, Overlap::Allow) };
    for row in [paused, over] {
        let plan = plan(&row, now, false);
        assert_eq!((plan.start, plan.row.due_at), (None, None));
    }
}

#[test]
fn what_was_missed_while_the_last_one_runs_keeps_its_rule() {
    let late = at(10 * DAY);
    let once = plan(&daily(Misfire::FireOnce, Overlap::Queue), late, true);
    assert_eq!(once.start, None);
    let (found, _) = starts(once.row, late);
    assert_eq!(found, [at(9 * DAY + 2 * HOUR)], "one for all");

    let mut row = Schedule { cron: "* * * * *".into(), ..daily(Misfire::FireAll, Overlap::Queue) };
    row = plan(&row, late, true).row;
    let (found, _) = starts(row, late);
    // The last one up to now was not missed.
    assert!(found.len() <= MADE_UP_MAX as usize + 2, "{}", found.len());

    let mut row = Schedule { cron: "* * * * *".into(), ..daily(Misfire::FireAll, Overlap::Skip) };
    let mut looks = 0;
    while row.due_at.is_some_and(|due| due <= late) {
        row = plan(&row, late, true).row;
        looks += 1;
        assert!(looks <= MADE_UP_MAX + 3, "what is left out counts, too");
    }
}
