//! Tasks that wait for a worker, as far as this host knows them: the next poll is served from here, by a lock that is
//! committed in company with everything else, and the database need not search.
//!
//! A queue counts only while it is *known* to have every task of its type that can be claimed. It becomes known when
//! a claim has found all there was, and it follows this host's own commits from then on. Whatever may have been made
//! elsewhere (a hint of another host, a wait that is over, a lost lock) makes it unknown again: the next claim asks
//! the database. A task from here is held only if its commit finds the version that is remembered, so a wrong memory
//! costs a second try, never a second holder.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use super::recent::{lock, task_bytes};
use crate::domain::task::{Task, TaskStatus};
use crate::domain::{TaskId, TenantId, Timestamp};

/// Bytes of waiting tasks kept at once, about.
const BYTES_MAX: usize = 32 << 20;
/// Task types that are followed at once. One more, and all are learnt anew.
const QUEUES_MAX: usize = 4_096;

/// A queue that was made unknown later than this is left so: others are at work.
const CALM: Duration = Duration::from_secs(1);

/// How long a queue that has very many tasks is not looked at again.
const TOO_MANY_MS: i64 = 30_000;

/// Where a task stands in its queue: its turn and id, as claims order them.
type Place = (Timestamp, TaskId);
type Name = (TenantId, String);

/// The waiting tasks that one host knows.
#[derive(Default)]
pub(super) struct Ready {
    queues: Mutex<Queues>,
}

#[derive(Default)]
struct Queues {
    by_name: HashMap<Name, Queue>,
    bytes: usize,
    last_number: u64,
    /// Raised whenever everything is forgotten: an answer from before then says nothing.
    generation: u64,
}

struct Queue {
    tasks: BTreeMap<Place, (Task, usize)>,
    known: bool,
    /// Claims under way: what is committed meanwhile they may or may not see.
    asking: u32,
    /// Changes with everything that this host cannot follow; unique among all queues that ever were.
    number: u64,
    /// When that was last, or when the rest was last looked at.
    restless_at: Option<Timestamp>,
}

/// A claim of the database that is under way.
pub(super) struct Question {
    tenant: TenantId,
    asked: Vec<(String, u64)>,
    generation: u64,
}

impl Ready {
    /// The first tasks of some types, taken out; none if not all of these types are known.
    pub(super) fn take(&self, tenant: &TenantId, task_types: &[String], count: usize) -> Option<Vec<Task>> {
        let mut queues = lock(&self.queues);
        let names: Vec<Name> = task_types.iter().map(|name| (tenant.clone(), name.clone())).collect();
        let known = |name: &Name| queues.by_name.get(name).is_some_and(|queue| queue.known);
        if !names.iter().all(known) {
            return None;
        }
        let mut taken = Vec::new();
        while taken.len() < count {
            let first = names
                .iter()
                .filter_map(|name| Some((*queues.by_name.get(name)?.tasks.first_key_value()?.0, name)))
                .min();
            let Some((place, name)) = first else { break };
            taken.extend(queues.remove(name, &place));
        }
        Some(taken)
    }

    /// How many tasks of some types wait; none if not all of these types are known.
    pub(super) fn count(&self, tenant: &TenantId, task_types: &[String]) -> Option<usize> {
        let queues = lock(&self.queues);
        let mut count = 0;
        for task_type in task_types {
            let queue = queues.by_name.get(&(tenant.clone(), task_type.clone()))?;
            count += queue.known.then_some(queue.tasks.len())?;
        }
        Some(count)
    }

    /// A task was committed by this host; it is kept if it can be claimed and its type is followed.
    pub(super) fn offer(&self, task: Task, now: Timestamp) {
        if task.status != TaskStatus::Pending || task.available_at > now {
            return;
        }
        let mut queues = lock(&self.queues);
        if queues.bytes + task_bytes(&task) > BYTES_MAX {
            return queues.doubt(&(task.tenant, task.task_type), now);
        }
        queues.insert(task);
    }

    /// There may be tasks of a type that this host does not know, or not those that it knows.
    pub(super) fn doubt(&self, tenant: &TenantId, task_type: &str, now: Timestamp) {
        lock(&self.queues).doubt(&(tenant.clone(), task_type.to_owned()), now);
    }

    /// Whether it pays to read what a claim has left: not where other hosts make tasks of these types, too, and not
    /// again and again where there are many.
    pub(super) fn worth_a_look(&self, question: &Question, now: Timestamp) -> bool {
        let mut queues = lock(&self.queues);
        question.asked.iter().all(|(task_type, _)| {
            let queue = queues.by_name.get_mut(&(question.tenant.clone(), task_type.clone()));
            queue.is_some_and(|queue| {
                let calm = queue.restless_at.is_none_or(|at| now.since(at) >= CALM);
                if calm {
                    queue.restless_at = Some(now);
                }
                calm
            })
        })
    }

    /// There was more than can be remembered: it is not worth a look for a while.
    pub(super) fn too_many(&self, question: &Question, now: Timestamp) {
        let mut queues = lock(&self.queues);
        for (task_type, _) in &question.asked {
            if let Some(queue) = queues.by_name.get_mut(&(question.tenant.clone(), task_type.clone())) {
                queue.restless_at = Some(now.plus_millis(TOO_MANY_MS));
            }
        }
    }

    /// Nothing is known any more.
    pub(super) fn forget(&self) {
        lock(&self.queues).clear();
    }

    /// A claim of the database begins.
    pub(super) fn ask(&self, tenant: &TenantId, task_types: &[String]) -> Question {
        let mut queues = lock(&self.queues);
        if queues.by_name.len() + task_types.len() > QUEUES_MAX {
            queues.clear();
        }
        let mut asked = Vec::with_capacity(task_types.len());
        for task_type in task_types.iter().take(QUEUES_MAX) {
            let number = queues.next_number();
            let queue = queues.by_name.entry((tenant.clone(), task_type.clone())).or_insert_with(|| Queue {
                tasks: BTreeMap::new(),
                known: false,
                asking: 0,
                number,
                restless_at: None,
            });
            queue.asking += 1;
            asked.push((task_type.clone(), queue.number));
        }
        Question { tenant: tenant.clone(), asked, generation: queues.generation }
    }

    /// The claim has ended with these tasks; `rest` are all others that it could have found, if that is known.
    pub(super) fn answered(&self, question: Question, found: &[Task], rest: Option<Vec<Task>>) {
        let mut queues = lock(&self.queues);
        if question.generation != queues.generation {
            return;
        }
        let fits = |rest: &Vec<Task>| queues.bytes + rest.iter().map(task_bytes).sum::<usize>() <= BYTES_MAX;
        let rest = rest.filter(fits);
        let all = rest.is_some();
        for task in rest.into_iter().flatten() {
            queues.insert(task);
        }
        for task in found {
            queues.remove(&(task.tenant.clone(), task.task_type.clone()), &place(task));
        }
        for (task_type, number) in question.asked {
            let name = (question.tenant.clone(), task_type);
            let anew = queues.next_number();
            let Some(queue) = queues.by_name.get_mut(&name) else { continue };
            queue.asking = queue.asking.saturating_sub(1);
            if all {
                queue.known |= queue.number == number;
            } else {
                // It may have kept rows from another claim that it did not take itself.
                (queue.known, queue.number) = (false, anew);
            }
            if !queue.known && queue.asking == 0 {
                queues.empty(&name);
            }
        }
    }
}

impl Queues {
    fn clear(&mut self) {
        self.by_name.clear();
        (self.bytes, self.generation) = (0, self.generation + 1);
    }

    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn insert(&mut self, task: Task) {
        let Some(queue) = self.by_name.get_mut(&(task.tenant.clone(), task.task_type.clone())) else {
            return;
        };
        if queue.known || queue.asking > 0 {
            let bytes = task_bytes(&task);
            let replaced = queue.tasks.insert(place(&task), (task, bytes));
            self.bytes += bytes;
            self.bytes -= replaced.map_or(0, |(_, bytes)| bytes);
        }
    }

    fn remove(&mut self, name: &Name, place: &Place) -> Option<Task> {
        let (task, bytes) = self.by_name.get_mut(name)?.tasks.remove(place)?;
        self.bytes -= bytes;
        Some(task)
    }

    fn doubt(&mut self, name: &Name, now: Timestamp) {
        let number = self.next_number();
        if let Some(queue) = self.by_name.get_mut(name) {
            (queue.known, queue.number, queue.restless_at) = (false, number, Some(now));
            self.empty(name);
        }
    }

    fn empty(&mut self, name: &Name) {
        if let Some(queue) = self.by_name.get_mut(name) {
            let tasks = std::mem::take(&mut queue.tasks);
            self.bytes -= tasks.values().map(|(_, bytes)| bytes).sum::<usize>();
        }
    }
}

fn place(task: &Task) -> Place {
    (task.turn_at, task.id)
}

#[cfg(test)]
#[path = "ready_tests.rs"]
mod tests;
