//! New tasks for polls that wait: the commit that makes a task also locks it for its taker.
//!
//! A task that nobody is ahead of, by what this host knows, and that a parked poll wants, would be locked by a commit of
//! its own right after the one that makes it. Here both are one: half the wait, and one row version less.

use std::collections::HashMap;

use super::change;
use crate::domain::Timestamp;
use crate::domain::task::{Task, TaskStatus};
use crate::domain::{LockToken, TenantId};
use crate::engine::Parts;
use crate::engine::port::store::ClaimSlot;
use crate::engine::port::{Handed, Hint, Seat, Write, WriteSet};
use crate::engine::ready::Ready;

/// Polls that were promised tasks of one transition, with the tasks.
#[derive(Default)]
pub(in crate::engine) struct Promises(Vec<(Seat, Vec<Task>)>);

/// How the transition ended that the tasks are part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Fate {
    /// It was committed.
    Done,
    /// It was not.
    Undone,
    /// It may have been.
    Unknown,
}

/// Locks the new tasks of a transition for polls that wait for them.
pub(in crate::engine) fn promise(
    parts: &Parts,
    ready: &Ready,
    set: &mut WriteSet,
    now: Timestamp,
) -> Promises {
    let mut promises = Promises::default();
    // What the same transition withdraws is nobody's.
    if set.writes.iter().any(withdraws) {
        return promises;
    }
    let mut seats: HashMap<(TenantId, String), Row> = HashMap::new();
    for write in &mut set.writes {
        let Write::InsertTask(task) = write else { continue };
        if task.status != TaskStatus::Pending || task.available_at > now {
            continue;
        }
        let name = (task.tenant.clone(), task.task_type.clone());
        let row = seats.entry(name).or_insert_with_key(|(tenant, task_type)| {
            // Whoever waits already is before it.
            let first = ready.count(tenant, std::slice::from_ref(task_type)) == Some(0);
            Row { open: first, taken: Vec::new(), next: 0 }
        });
        let Some(place) = row.place(parts, task, &mut promises) else { continue };
        let (seat, tasks) = &mut promises.0[place];
        let slot = ClaimSlot {
            worker_id: seat.worker_id.clone(),
            lock_token: LockToken::new(),
            lock_ms: seat.lock_ms,
        };
        *task = change::lock(task.clone(), &slot, now);
        tasks.push(task.clone());
    }
    promises.correct(&mut set.hints);
    promises
}

/// The polls that tasks of one type go to: each gets one, then each another, as far as it takes more.
struct Row {
    open: bool,
    /// Places in the list of promises.
    taken: Vec<usize>,
    next: usize,
}

impl Row {
    fn place(&mut self, parts: &Parts, task: &Task, promises: &mut Promises) -> Option<usize> {
        if self.open {
            if let Some(seat) = parts.announcer.reserve(&task.tenant, &task.task_type) {
                promises.0.push((seat, Vec::new()));
                self.taken.push(promises.0.len() - 1);
                return self.taken.last().copied();
            }
            self.open = false;
        }
        for _ in 0..self.taken.len() {
            let place = self.taken[self.next % self.taken.len()];
            self.next += 1;
            let (seat, tasks) = &promises.0[place];
            if tasks.len() < seat.tasks_max {
                return Some(place);
            }
        }
        None
    }
}

impl Promises {
    /// Nobody need be told of these tasks any more; but of the ends of their locks.
    fn correct(&self, hints: &mut Vec<Hint>) {
        for task in self.0.iter().flat_map(|(_, tasks)| tasks) {
            for hint in hints.iter_mut() {
                if let Hint::Tasks { tenant, task_type, count } = hint
                    && (&*tenant, &*task_type) == (&task.tenant, &task.task_type)
                    && *count > 0
                {
                    *count -= 1;
                    break;
                }
            }
            hints.extend(task.due_at.map(|at| Hint::Due { at }));
        }
        hints.retain(|hint| !matches!(hint, Hint::Tasks { count: 0, .. }));
    }

    /// Tells the polls.
    pub(in crate::engine) fn settle(self, parts: &Parts, fate: Fate) {
        let now = parts.clock.now();
        for (seat, tasks) in self.0 {
            let over = tasks.iter().any(|task| task.lock_expires_at.is_some_and(|at| at <= now));
            let handed = match fate {
                // The commit took longer than the lock: somebody else may have it by now.
                Fate::Done if over => Handed::Perhaps(tasks),
                Fate::Done => Handed::Tasks(tasks),
                Fate::Undone => Handed::Nothing,
                Fate::Unknown => Handed::Perhaps(tasks),
            };
            parts.announcer.hand_over(seat, handed);
        }
    }
}

fn withdraws(write: &Write) -> bool {
    matches!(write, Write::CancelTask(_) | Write::CloseStep(_) | Write::CloseInstance(_))
}
