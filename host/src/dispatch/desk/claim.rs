//! Claims for a group of polls: one statement for all of them, in a task of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::state::{GroupKey, Order, Repeat};
use super::{Desk, Waiter, lock};
use crate::domain::task::Task;
use crate::engine::port::StoreError;
use crate::engine::port::store::TaskClaim;
use crate::engine::{Claimed, Error};
use crate::failpoint::{self, Point};
use crate::metrics as names;

/// The wait before a claim is repeated that found less than announced; longer each time.
const REPEAT_PAUSE: Duration = Duration::from_millis(50);
/// Tries to give tasks back; after them, the end of their locks does it.
const GIVE_BACK_TRIES: u32 = 5;

impl Desk {
    /// Claims for a group for as long as it has reason to, unless that is under way already.
    pub(super) fn serve(self: &Arc<Self>, key: &GroupKey) {
        let Some(order) = self.begin(key) else { return };
        let (desk, key) = (Arc::clone(self), key.clone());
        self.claims.spawn(async move {
            let mut next = Some(order);
            while let Some(order) = next {
                desk.claim(&key, order).await;
                next = desk.begin(&key);
            }
        });
    }

    fn begin(&self, key: &GroupKey) -> Option<Order> {
        let known = self.engine.claimable(&key.0, &key.1);
        lock(&self.state).begin(key, known)
    }

    async fn claim(self: &Arc<Self>, key: &GroupKey, order: Order) {
        let task_types = match self.types_of(key).await {
            Ok(task_types) => task_types,
            Err(error) => return self.refuse(key, error),
        };
        if task_types.is_empty() {
            return self.hand_out(key, order, Claimed { tasks: Vec::new(), all: true });
        }
        let claim = TaskClaim {
            tenant: key.0.clone(),
            task_types,
            now: self.clock.now(),
            slots: order.slots.clone(),
        };
        let started = Instant::now();
        let (engine, trust) = (Arc::clone(&self.engine), order.trust);
        let claimed = tokio::spawn(async move { engine.claim(&claim, trust).await }).await;
        metrics::histogram!(names::CLAIM_SECONDS).record(started.elapsed().as_secs_f64());
        match claimed {
            Ok(Ok(claimed)) => self.hand_out(key, order, claimed),
            Ok(Err(error)) => self.refuse(key, error),
            Err(panicked) => self.refuse(key, StoreError::Broken(panicked.to_string())),
        }
    }

    fn hand_out(self: &Arc<Self>, key: &GroupKey, order: Order, claimed: Claimed) {
        let Claimed { tasks, all } = claimed;
        if !tasks.is_empty() {
            failpoint::pass(Point::TasksLocked);
        }
        if let Some(at) = tasks.iter().filter_map(|task| task.due_at).min() {
            self.alarm.not_later_than(at);
        }
        let tasks = tasks.into_iter().map(|task| (task.lock_token, task)).collect();
        let settled = lock(&self.state).settle(key, order, tasks, all);
        let mut unwanted = settled.unwanted;
        for (waiter, tasks) in settled.answers {
            unwanted.extend(answer(waiter, tasks));
        }
        self.give_back(unwanted);
        if let Some(Repeat { nth, missing }) = settled.repeat {
            let (desk, key) = (Arc::downgrade(self), key.clone());
            tokio::spawn(async move {
                tokio::time::sleep(REPEAT_PAUSE * nth * nth).await;
                if let Some(desk) = desk.upgrade() {
                    lock(&desk.state).announce_again(&key, missing);
                    desk.serve(&key);
                }
            });
        }
    }

    fn refuse(&self, key: &GroupKey, error: StoreError) {
        tracing::warn!(tenant = %key.0, %error, "pending tasks cannot be claimed");
        let waiters = lock(&self.state).failed(key);
        for waiter in waiters {
            let _ = waiter.send(Err(Error::Store(error.clone())));
        }
    }

    /// Offers tasks again that nobody is there to take.
    pub fn give_back(self: &Arc<Self>, tasks: Vec<Task>) {
        if tasks.is_empty() {
            return;
        }
        let desk = Arc::clone(self);
        self.claims.spawn(async move {
            for attempt in 1..=GIVE_BACK_TRIES {
                match desk.engine.give_back(tasks.clone()).await {
                    Ok(()) => return,
                    Err(error) => tracing::warn!(%error, attempt, "undelivered tasks are not given back yet"),
                }
                tokio::time::sleep(Duration::from_millis(200) * attempt).await;
            }
        });
    }
}

/// Gives a poll its tasks; returns them if its client is gone.
pub(super) fn answer(waiter: Waiter, tasks: Vec<Task>) -> Vec<Task> {
    for task in &tasks {
        metrics::counter!(names::TASKS_CLAIMED, "task_type" => task.task_type.clone()).increment(1);
    }
    match waiter.send(Ok(tasks)) {
        Err(Ok(tasks)) => tasks,
        _ => Vec::new(),
    }
}
