//! Claims: tasks for polls. What this host knows to wait is locked by a commit; else the database is asked.

use futures::future::join_all;

use super::change;
use crate::domain::TenantId;
use crate::domain::task::Task;
use crate::engine::Engine;
use crate::engine::port::store::{ClaimSlot, Result, TaskClaim};
use crate::engine::port::write::TaskLocked;
use crate::engine::port::{Guard, Hint, StoreError, Verdict, Write, WriteSet};
use crate::engine::ready::Question;

/// Tasks that a host that has been polling for a while learns at once; with more in the database it goes on asking.
const REST_MAX: u32 = 512;

/// How much a claim may rely on what this host knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The database is asked.
    Nothing,
    /// The database is asked if nothing is known to wait, and other hosts could have made tasks that this one was
    /// not told of yet.
    Tasks,
    /// The database is asked only if this host does not know: who waits will be told of what comes.
    Absence,
}

/// What a claim has found.
#[derive(Debug, Default)]
pub struct Claimed {
    /// Now held by the slots, in the order of the slots.
    pub tasks: Vec<Task>,
    /// Whether there was no more.
    pub all: bool,
}

impl Engine {
    /// Locks a task for each slot, as far as there are any, by turn.
    pub async fn claim(&self, claim: &TaskClaim, trust: Trust) -> Result<Claimed> {
        if trust != Trust::Nothing
            && let Some(known) = self.ready.take(&claim.tenant, &claim.task_types, claim.slots.len())
        {
            let all = known.len() < claim.slots.len();
            let leased = self.lock_known(known, claim).await;
            let enough = trust == Trust::Absence || !self.parts.store.shared();
            if !leased.tasks.is_empty() || (leased.sound && enough) {
                self.recent.keep_tasks(&leased.tasks);
                return Ok(Claimed { tasks: leased.tasks, all: all && leased.sound });
            }
        }
        let question = self.ready.ask(&claim.tenant, &claim.task_types);
        // What was committed before the question has to be seen by it.
        let claim = &TaskClaim { now: self.parts.clock.now(), ..claim.clone() };
        match self.parts.store.claim_tasks(claim).await {
            Ok(tasks) => {
                let all = tasks.len() < claim.slots.len();
                let rest = if all { Some(Vec::new()) } else { self.look_at_rest(&question, claim).await };
                self.ready.answered(question, &tasks, rest);
                self.recent.keep_tasks(&tasks);
                Ok(Claimed { tasks, all })
            }
            Err(error) => {
                self.ready.answered(question, &[], None);
                Err(error)
            }
        }
    }

    /// What a claim has left behind, if that is little enough to be remembered.
    async fn look_at_rest(&self, question: &Question, claim: &TaskClaim) -> Option<Vec<Task>> {
        if !self.ready.worth_a_look(question, claim.now) {
            return None;
        }
        let rows =
            self.parts.store.pending_tasks(&claim.tenant, &claim.task_types, claim.now, REST_MAX).await;
        let rest = rows.ok()?;
        if rest.len() >= REST_MAX as usize {
            self.ready.too_many(question, claim.now);
            return None;
        }
        Some(rest)
    }

    /// Tasks were handed out: their reports will need them.
    pub fn holds(&self, tasks: &[Task]) {
        self.recent.keep_tasks(tasks);
    }

    /// How many tasks of some types can be claimed, as far as this host knows; none if it does not.
    pub fn claimable(&self, tenant: &TenantId, task_types: &[String]) -> Option<usize> {
        self.ready.count(tenant, task_types)
    }

    /// Other hosts, or time, have made something that this host does not know.
    pub fn heard(&self, hints: &[Hint]) {
        let now = self.parts.clock.now();
        for hint in hints {
            match hint {
                Hint::Tasks { tenant, task_type, .. } => self.ready.doubt(tenant, task_type, now),
                Hint::Everything => self.ready.forget(),
                Hint::Instance { .. }
                | Hint::Withdrawn { .. }
                | Hint::Due { .. }
                | Hint::Plugins
                | Hint::Topics => {}
            }
        }
    }

    /// Each in a transition of its own: one that somebody else was quicker with does not spoil the others.
    async fn lock_known(&self, known: Vec<Task>, claim: &TaskClaim) -> Leased {
        let locks = known.into_iter().zip(&claim.slots).map(|(task, slot)| self.lock_one(task, slot, claim));
        let mut leased = Leased { tasks: Vec::new(), sound: true };
        for outcome in join_all(locks).await {
            match outcome {
                Ok(task) => leased.tasks.push(task),
                Err(task) => {
                    leased.sound = false;
                    self.ready.doubt(&task.tenant, &task.task_type, claim.now);
                }
            }
        }
        leased
    }

    async fn lock_one(
        &self,
        task: Task,
        slot: &ClaimSlot,
        claim: &TaskClaim,
    ) -> std::result::Result<Task, Box<Task>> {
        let guard = Guard::Task { tenant: task.tenant.clone(), id: task.id, version: task.version };
        let held = change::lock(task, slot, claim.now);
        let writes = vec![Write::LockTask(TaskLocked::of(&held))];
        let verdict =
            self.committer.commit(WriteSet { guards: vec![guard], writes, hints: Vec::new() }).await;
        match verdict {
            Ok(Verdict::Applied) => Ok(held),
            // The database will say what is there, or why it cannot.
            Ok(_) | Err(StoreError::Unavailable(_) | StoreError::Unknown(_) | StoreError::Broken(_)) => {
                Err(Box::new(held))
            }
        }
    }
}

struct Leased {
    tasks: Vec<Task>,
    /// Whether all were as remembered.
    sound: bool,
}
