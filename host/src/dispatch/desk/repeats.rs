//! Answers to polls that named themselves: the same poll again, after a lost answer, gets the same tasks.

use std::collections::{HashMap, VecDeque};

use crate::domain::task::Task;
use crate::domain::{TenantId, Timestamp};

/// How long an answer is kept.
const KEPT_MS: i64 = 60_000;
/// How many answers are kept.
const ANSWERS_MAX: usize = 4_096;

/// Tenant, worker and request.
pub(super) type RequestName = (TenantId, Option<String>, String);

#[derive(Default)]
pub(super) struct Repeats {
    answers: HashMap<RequestName, Vec<Task>>,
    order: VecDeque<(Timestamp, RequestName)>,
}

impl Repeats {
    /// The tasks of an earlier answer that are still held.
    pub(super) fn earlier(&self, name: &RequestName, now: Timestamp) -> Vec<Task> {
        let held = |task: &&Task| task.lock_expires_at.is_some_and(|at| at > now);
        self.answers.get(name).map(|tasks| tasks.iter().filter(held).cloned().collect()).unwrap_or_default()
    }

    pub(super) fn keep(&mut self, name: RequestName, tasks: &[Task], now: Timestamp) {
        let old = now.plus_millis(-KEPT_MS);
        while self.order.front().is_some_and(|(at, _)| *at < old || self.order.len() >= ANSWERS_MAX) {
            if let Some((_, name)) = self.order.pop_front() {
                self.answers.remove(&name);
            }
        }
        self.order.push_back((now, name.clone()));
        self.answers.insert(name, tasks.to_vec());
    }
}
