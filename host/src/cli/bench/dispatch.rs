//! Dispatch: from a committed task to the task in the hands of a poller that was waiting for it.
//!
//! Seen from outside. A task counts as committed when the answer to its start was read, and as dispatched when the
//! answer to the poll was read. The clock runs from the moment at which both sides were there, the committed task and
//! the poll. A poll may be answered before the start is: then the time is 0, and it is counted how often that was.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

/// Starts and polls that wait for their counterpart.
#[derive(Default)]
pub(super) struct Ledger {
    open: Mutex<HashMap<Uuid, Side>>,
}

/// What came first.
#[derive(Clone, Copy)]
enum Side {
    Started { due: Instant, answered: Instant },
    InHand { asked: Instant, at: Instant },
}

/// The times of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dispatch {
    /// When the start was due.
    pub(super) due: Instant,
    /// From both sides being there to the task in hand.
    pub(super) took: Duration,
    /// From when the start was due to the task in hand: the bound that holds whatever "committed" means.
    pub(super) since_start: Duration,
    /// Whether the poll was answered before the start.
    pub(super) early: bool,
}

impl Ledger {
    /// A start that was due, and was answered now; what it makes of a poll that came first.
    pub(super) fn started(&self, instance: Uuid, due: Instant, answered: Instant) -> Option<Dispatch> {
        self.pair(instance, Side::Started { due, answered })
    }

    /// A task that came to a poll which was sent at `asked`; what it makes of a start that came first.
    pub(super) fn in_hand(&self, instance: Uuid, asked: Instant, at: Instant) -> Option<Dispatch> {
        self.pair(instance, Side::InHand { asked, at })
    }

    fn pair(&self, instance: Uuid, side: Side) -> Option<Dispatch> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(other) = open.remove(&instance) else {
            open.insert(instance, side);
            return None;
        };
        match (side, other) {
            (Side::Started { due, answered }, Side::InHand { asked, at })
            | (Side::InHand { asked, at }, Side::Started { due, answered }) => Some(Dispatch {
                due,
                took: at.saturating_duration_since(answered.max(asked)),
                since_start: at.saturating_duration_since(due),
                early: at < answered,
            }),
            // The same instance twice on one side: a task that was handed out again.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_runs_from_when_both_sides_were_there() {
        let zero = Instant::now();
        let at = |millis: u64| zero + Duration::from_millis(millis);
        let millis = Duration::from_millis;
        let ledger = Ledger::default();
        let [parked, late, early] = [Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7()];

        assert_eq!(ledger.started(parked, at(10), at(15)), None);
        let told = Dispatch { due: at(10), took: millis(3), since_start: millis(8), early: false };
        assert_eq!(ledger.in_hand(parked, at(0), at(18)), Some(told));

        assert_eq!(ledger.started(late, at(10), at(15)), None);
        let told = Dispatch { due: at(10), took: millis(4), since_start: millis(94), early: false };
        assert_eq!(ledger.in_hand(late, at(100), at(104)), Some(told));

        assert_eq!(ledger.in_hand(early, at(0), at(12)), None);
        let told = Dispatch { due: at(10), took: millis(0), since_start: millis(2), early: true };
        assert_eq!(ledger.started(early, at(10), at(15)), Some(told));
    }
}
