//! What this host wrote or handed out last: instances with their steps, and tasks. The next signal for one of them
//! finds it here, and nothing is read.
//!
//! Memory may be behind the database: another host may have been quicker. So a decision from memory counts only if
//! the guards of its commit confirm it; whatever else comes of it is forgotten, read and decided again. Taking
//! something out is the only way to look at it: what failed once is not tried from memory a second time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::port::write::json_bytes;
use crate::domain::instance::Instance;
use crate::domain::step::StepExecution;
use crate::domain::task::Task;
use crate::domain::transition::Failure;
use crate::domain::{InstanceId, TaskId, TenantId};

/// Bytes of instances kept at once, about.
const INSTANCE_BYTES_MAX: usize = 32 << 20;
/// Bytes of tasks kept at once, about.
const TASK_BYTES_MAX: usize = 16 << 20;
/// What a row takes besides its big parts.
const ROW_BYTES: usize = 1_000;
/// What an entry of a map takes besides its texts.
const ENTRY_BYTES: usize = 64;

/// An instance as it was committed.
pub(super) struct Snapshot {
    pub(super) instance: Instance,
    pub(super) steps: HashMap<String, StepExecution>,
    /// Steps that were looked up; one that is not in `steps` has no row.
    pub(super) known: HashSet<String>,
    /// Whether `steps` has every row that there is.
    pub(super) whole: bool,
}

/// The memory of one host.
#[derive(Default)]
pub(super) struct Recent {
    instances: Mutex<Shelf<InstanceId, Snapshot>>,
    tasks: Mutex<Shelf<TaskId, Task>>,
}

impl Recent {
    /// Keeps an instance, unless nothing can happen to it any more.
    pub(super) fn keep_instance(&self, snapshot: Snapshot) {
        if snapshot.instance.status.ended() {
            return;
        }
        let (id, bytes) = (snapshot.instance.id, snapshot.bytes());
        lock(&self.instances).put(id, snapshot, bytes, INSTANCE_BYTES_MAX);
    }

    /// Whether an instance is kept.
    pub(super) fn has_instance(&self, id: InstanceId) -> bool {
        lock(&self.instances).things.contains_key(&id)
    }

    /// Takes an instance out.
    pub(super) fn take_instance(&self, tenant: &TenantId, id: InstanceId) -> Option<Snapshot> {
        lock(&self.instances).take(&id).filter(|snapshot| snapshot.instance.tenant == *tenant)
    }

    /// Keeps tasks that somebody holds.
    pub(super) fn keep_tasks(&self, tasks: &[Task]) {
        let mut shelf = lock(&self.tasks);
        for task in tasks {
            shelf.put(task.id, task.clone(), task_bytes(task), TASK_BYTES_MAX);
        }
    }

    /// Takes a task out.
    pub(super) fn take_task(&self, tenant: &TenantId, id: TaskId) -> Option<Task> {
        lock(&self.tasks).take(&id).filter(|task| task.tenant == *tenant)
    }
}

impl Snapshot {
    fn bytes(&self) -> usize {
        let step = |step: &StepExecution| {
            let keys: usize =
                step.effect_keys.iter().map(|(key, mark)| ENTRY_BYTES + key.len() + mark.len()).sum();
            let texts = text_bytes(&step.config) + text_bytes(&step.state);
            ROW_BYTES + keys + texts + value_bytes(&step.output) + failure_bytes(&step.error)
        };
        ROW_BYTES
            + json_bytes(&self.instance.context)
            + json_bytes(&self.instance.trigger)
            + failure_bytes(&self.instance.error)
            + self.steps.values().map(step).sum::<usize>()
    }
}

/// Everything counts that a user or a plugin can make big.
pub(super) fn task_bytes(task: &Task) -> usize {
    let values = json_bytes(&task.input) + value_bytes(&task.output) + value_bytes(&task.checkpoint);
    ROW_BYTES + values + text_bytes(&task.error_message) + text_bytes(&task.error_details)
}

fn text_bytes(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}

fn value_bytes(value: &Option<Value>) -> usize {
    value.as_ref().map_or(0, json_bytes)
}

fn failure_bytes(failure: &Option<Failure>) -> usize {
    failure.as_ref().map_or(0, |failure| failure.message.len() + json_bytes(&failure.details))
}

/// What is behind a mutex, also after a panic: nothing here is left half-changed by one.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Things within a budget of bytes: the oldest goes first.
struct Shelf<K, V> {
    things: HashMap<K, Kept<V>>,
    /// Oldest first; a thing that was taken or put again since is passed over.
    order: VecDeque<(K, u64)>,
    bytes: usize,
    last_number: u64,
}

struct Kept<V> {
    value: V,
    bytes: usize,
    number: u64,
}

impl<K, V> Default for Shelf<K, V> {
    fn default() -> Self {
        Self { things: HashMap::new(), order: VecDeque::new(), bytes: 0, last_number: 0 }
    }
}

impl<K: Copy + Eq + Hash, V> Shelf<K, V> {
    fn put(&mut self, key: K, value: V, bytes: usize, bytes_max: usize) {
        if bytes > bytes_max {
            return;
        }
        self.take(&key);
        self.last_number += 1;
        self.things.insert(key, Kept { value, bytes, number: self.last_number });
        self.order.push_back((key, self.last_number));
        self.bytes += bytes;
        while self.bytes > bytes_max {
            let Some((oldest, number)) = self.order.pop_front() else { break };
            if self.things.get(&oldest).is_some_and(|kept| kept.number == number) {
                self.take(&oldest);
            }
        }
        // Things that are taken in time leave their places behind.
        if self.order.len() > 2 * self.things.len() + 64 {
            let things = &self.things;
            self.order.retain(|(key, number)| things.get(key).is_some_and(|kept| kept.number == *number));
        }
    }

    fn take(&mut self, key: &K) -> Option<V> {
        let kept = self.things.remove(key)?;
        self.bytes -= kept.bytes;
        Some(kept.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_when_the_budget_is_spent() {
        let mut shelf = Shelf::default();
        for key in 1..=4 {
            shelf.put(key, key * 10, 10, 30);
        }
        assert_eq!((shelf.take(&1), shelf.take(&2), shelf.bytes), (None, Some(20), 20));
        shelf.put(3, 33, 10, 30);
        shelf.put(5, 50, 20, 30);
        assert_eq!((shelf.take(&4), shelf.take(&3), shelf.take(&5)), (None, Some(33), Some(50)));
        assert_eq!(shelf.bytes, 0);
    }

    #[test]
    fn what_is_too_big_is_not_kept_and_pushes_nothing_out() {
        let mut shelf = Shelf::default();
        shelf.put(1, 1, 10, 30);
        shelf.put(2, 2, 31, 30);
        assert_eq!((shelf.take(&2), shelf.take(&1)), (None, Some(1)));
    }

    #[test]
    fn places_of_things_that_were_taken_are_given_up() {
        let mut shelf = Shelf::default();
        for key in 0..10_000 {
            shelf.put(key, (), 1, 100);
            shelf.take(&key);
        }
        assert!(shelf.order.len() <= 65, "{} places", shelf.order.len());
    }
}
