//! Polls that are promised a task before it is committed: see `engine/task/hand_over.rs`.

use std::sync::Arc;

use super::claim::answer;
use super::state::{GroupKey, PollerId};
use super::{Desk, lock};
use crate::domain::TenantId;
use crate::engine::port::{Handed, Seat};
use crate::failpoint::{self, Point};

impl Desk {
    /// The poll that has waited longest for a type, by name or pattern.
    pub(in crate::dispatch) fn reserve(&self, tenant: &TenantId, task_type: &str) -> Option<Seat> {
        let mut names = self.patterns_of(tenant, task_type);
        names.push(task_type.to_owned());
        let promised = lock(&self.state).promise(tenant, &names)?;
        let (tenant, task_types) = promised.key;
        Some(Seat {
            tenant,
            task_types,
            poll: promised.id,
            worker_id: promised.worker_id,
            lock_ms: promised.lock_ms,
            tasks_max: promised.tasks_max,
        })
    }

    /// Keeps the promise, or takes it back.
    pub(in crate::dispatch) fn hand_over(self: &Arc<Self>, seat: Seat, handed: Handed) {
        let (key, id) = ((seat.tenant, seat.task_types), seat.poll);
        match handed {
            Handed::Tasks(tasks) => {
                failpoint::pass(Point::TasksLocked);
                self.engine.holds(&tasks);
                let waiter = lock(&self.state).keep(&key, id);
                self.give_back(match waiter {
                    Some(waiter) => answer(waiter, tasks),
                    None => tasks,
                });
            }
            Handed::Nothing => self.take_back(&key, id),
            Handed::Perhaps(tasks) => {
                self.take_back(&key, id);
                self.give_back(tasks);
            }
        }
    }

    fn take_back(self: &Arc<Self>, key: &GroupKey, id: PollerId) {
        let waiter = lock(&self.state).take_back(key, id);
        if let Some(waiter) = waiter {
            answer(waiter, Vec::new());
        }
        // What was announced meanwhile was not claimed for it.
        self.serve(key);
    }
}
