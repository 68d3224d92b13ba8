//! An instance while it is being decided: what was read, what has changed, and what will be written.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::deadline;
use super::port::store::Result as StoreResult;
use super::port::write::InstanceUpdate;
use super::port::{Guard, Hint, Store, Write, WriteSet};
use super::recent::Snapshot;
use crate::domain::definition::{Step, Workflow};
use crate::domain::id::{fresh, successor};
use crate::domain::instance::{Instance, InstanceStatus};
use crate::domain::step::{StepExecution, StepStatus};
use crate::domain::wait::{TopicFields, WaitState};
use crate::domain::{StepExecutionId, TaskId, TimerId, Timestamp};

/// The working copy.
pub(super) struct Draft {
    pub(super) workflow: Arc<Workflow>,
    pub(super) instance: Instance,
    pub(super) now: Timestamp,
    /// Rows besides the instance and its steps.
    pub(super) writes: Vec<Write>,
    pub(super) guards: Vec<Guard>,
    pub(super) hints: Vec<Hint>,
    /// Tasks that a signal of this fold ended: a second signal for one of them is stale.
    pub(super) tasks_ended: HashSet<TaskId>,
    pub(super) context_changed: bool,
    /// The timer that is being told of, if one is.
    pub(super) fired: Option<TimerId>,
    /// Steps that wait for the end of one that has ended, with the id of that one.
    pub(super) watchers: VecDeque<(String, String)>,
    /// Whether the host gives all tasks the same priority.
    pub(super) unprioritized: bool,
    /// What this host is called.
    pub(super) node_id: Arc<str>,
    /// Topics that are known to be written down.
    pub(super) topics: Arc<HashSet<TopicFields>>,
    /// Waits that this fold has begun, and how many of them have had what was kept for them.
    pub(super) waits: Vec<(StepExecutionId, String)>,
    drained: usize,
    /// Steps that something may have arrived at.
    pub(super) ready: VecDeque<String>,
    /// Paths that have ended, by the step that they lead to, alive or dead; not counted yet.
    pub(super) arrivals: Vec<(String, bool)>,
    steps: HashMap<String, StepExecution>,
    /// Steps that were looked up; absent from `steps` means that they have no row yet.
    known: HashSet<String>,
    changed: BTreeSet<String>,
    /// Whether `steps` has every row that there is.
    whole: bool,
    is_new: bool,
}

impl Draft {
    /// A draft of an instance that does not exist yet.
    pub(super) fn new(workflow: Arc<Workflow>, instance: Instance) -> Self {
        let now = instance.created_at;
        Self { is_new: true, whole: true, ..Self::of(workflow, instance, now) }
    }

    /// A draft of an instance as it was read.
    pub(super) fn of(workflow: Arc<Workflow>, instance: Instance, now: Timestamp) -> Self {
        Self {
            workflow,
            instance,
            now,
            writes: Vec::new(),
            guards: Vec::new(),
            hints: Vec::new(),
            tasks_ended: HashSet::new(),
            context_changed: false,
            fired: None,
            watchers: VecDeque::new(),
            unprioritized: false,
            node_id: Arc::default(),
            topics: Arc::default(),
            waits: Vec::new(),
            drained: 0,
            ready: VecDeque::new(),
            arrivals: Vec::new(),
            steps: HashMap::new(),
            known: HashSet::new(),
            changed: BTreeSet::new(),
            whole: false,
            is_new: false,
        }
    }

    /// A draft of an instance as it is remembered.
    pub(super) fn recall(workflow: Arc<Workflow>, snapshot: Snapshot, now: Timestamp) -> Self {
        let Snapshot { instance, steps, known, whole } = snapshot;
        Self { steps, known, whole, ..Self::of(workflow, instance, now) }
    }

    /// Reads the rows of some steps, once each.
    pub(super) async fn ensure(&mut self, store: &dyn Store, step_ids: &[String]) -> StoreResult<()> {
        if self.whole {
            return Ok(());
        }
        let missing: Vec<String> = step_ids.iter().filter(|id| !self.known.contains(*id)).cloned().collect();
        if missing.is_empty() {
            return Ok(());
        }
        for step in store.steps(&self.instance.tenant, self.instance.id, Some(&missing)).await? {
            self.steps.insert(step.step_id.clone(), step);
        }
        self.known.extend(missing);
        Ok(())
    }

    /// Reads the rows of all steps.
    pub(super) async fn ensure_all(&mut self, store: &dyn Store) -> StoreResult<()> {
        let all: Vec<String> = self.workflow.steps.iter().map(|step| step.id.clone()).collect();
        self.ensure(store, &all).await
    }

    /// A step's row, if it has one. It must have been ensured.
    pub(super) fn step(&self, id: &str) -> Option<&StepExecution> {
        self.steps.get(id)
    }

    /// Rows of steps that have begun and not ended.
    pub(super) fn open_steps(&self) -> Vec<StepExecution> {
        let mut open: Vec<_> = self.steps.values().filter(|step| step.status.open()).cloned().collect();
        open.sort_by_key(|step| step.id);
        open
    }

    /// A step's row to change; made if it has none.
    pub(super) fn step_mut(&mut self, definition: &Step) -> &mut StepExecution {
        self.changed.insert(definition.id.clone());
        let instance = &self.instance;
        self.steps.entry(definition.id.clone()).or_insert_with(|| StepExecution {
            id: StepExecutionId::new(),
            tenant: instance.tenant.clone(),
            instance_id: instance.id,
            step_id: definition.id.clone(),
            attempt: 1,
            step_type: definition.step_type.clone(),
            status: StepStatus::Pending,
            plugin_digest: None,
            config: None,
            state: None,
            state_version: 0,
            seq: 0,
            effect_keys: std::collections::BTreeMap::new(),
            arrived: 0,
            arrived_live: 0,
            output: None,
            error: None,
            started_at: None,
            ended_at: None,
        })
    }

    /// Steps that were cancelled when their instance ended. All of them must have been ensured.
    pub(super) fn cancelled_steps(&self) -> Vec<StepExecution> {
        let cancelled = self.steps.values().filter(|step| step.status == StepStatus::Cancelled);
        let mut cancelled: Vec<_> = cancelled.cloned().collect();
        cancelled.sort_by_key(|step| step.id);
        cancelled
    }

    /// A fresh execution of a step, with the paths that have arrived at it.
    pub(super) fn begin_again(&mut self, definition: &Step) {
        let step = self.step_mut(definition);
        step.id = StepExecutionId::new();
        step.attempt = step.attempt.saturating_add(1);
        step.status = StepStatus::Pending;
        (step.plugin_digest, step.config, step.state) = (None, None, None);
        (step.state_version, step.seq) = (0, 0);
        step.effect_keys.clear();
        (step.output, step.error, step.started_at, step.ended_at) = (None, None, None, None);
    }

    /// Whether this fold has withdrawn or moved what a signal is about: the database does not know it yet.
    pub(super) fn withdrew(&self, execution: StepExecutionId, key: &str) -> bool {
        self.writes.iter().any(|write| match write {
            Write::CancelTask(by) | Write::CancelTimer(by) | Write::DeleteSubscription(by) => {
                by.step_execution_id == execution && by.key == key
            }
            Write::UpsertTimer(timer) => timer.step_execution_id == execution && timer.key == key,
            Write::CloseStep(closed) => closed.step_execution_id == execution,
            _ => false,
        })
    }

    /// A step has begun to wait for events from outside, or waits under another id.
    pub(super) fn wait_begins(&mut self, execution: StepExecutionId, correlation: &str) {
        let known = |(id, known): &(StepExecutionId, String)| *id == execution && known == correlation;
        if !self.waits.iter().any(known) {
            self.waits.push((execution, correlation.to_owned()));
        }
    }

    /// The next wait that has not had what was kept for it. Nothing was kept for an instance that is new.
    pub(super) fn take_new_wait(&mut self) -> Option<(StepExecutionId, String)> {
        let next = self.waits.get(self.drained).filter(|_| !self.is_new).cloned();
        self.drained += usize::from(next.is_some());
        next
    }

    /// A wait as this fold will write it.
    pub(super) fn wait(&self, execution: StepExecutionId) -> Option<WaitState> {
        self.writes.iter().rev().find_map(|write| match write {
            Write::UpsertWait(wait) if wait.id == execution => Some(wait.clone()),
            _ => None,
        })
    }

    /// Arrivals at a step, to be counted now.
    pub(super) fn take_arrivals(&mut self, id: &str) -> Vec<bool> {
        let mut taken = Vec::new();
        self.arrivals.retain(|(to, alive)| {
            if to == id {
                taken.push(*alive);
            }
            to != id
        });
        taken
    }

    /// Sets a step's state and keeps count of the open ones.
    pub(super) fn set_status(&mut self, definition: &Step, status: StepStatus) {
        let now = self.now;
        let step = self.step_mut(definition);
        let was_open = step.status.open();
        step.status = status;
        if status.ended() {
            step.ended_at = Some(now);
        }
        self.instance.open_steps += i32::from(status.open()) - i32::from(was_open);
    }

    /// Where the instance stands, from its steps.
    pub(super) fn settle(&mut self) {
        let instance = &mut self.instance;
        if instance.status.ended() {
            return;
        }
        instance.status = match (instance.open_incidents > 0, instance.open_steps > 0) {
            (true, _) => InstanceStatus::Incident,
            (false, true) => InstanceStatus::Waiting,
            (false, false) => {
                instance.ended_at = Some(self.now);
                InstanceStatus::Completed
            }
        };
        if instance.status.ended() {
            deadline::withdraw(self);
        }
    }

    /// All of it as one transition, and the instance as it will be if that is committed.
    pub(super) fn into_write_set(mut self) -> (WriteSet, Snapshot) {
        self.instance.updated_at = self.now;
        let mut writes = Vec::with_capacity(self.writes.len() + self.changed.len() + 1);
        let (tenant, id) = (self.instance.tenant.clone(), self.instance.id);
        if self.is_new {
            writes.push(Write::InsertInstance(self.instance.clone()));
        } else {
            self.guards.push(Guard::Instance { tenant: tenant.clone(), id, version: self.instance.version });
            self.instance.version += 1;
            writes.push(Write::UpdateInstance(update(&self.instance, self.context_changed)));
        }
        for id in &self.changed {
            if let Some(step) = self.steps.get(id) {
                writes.push(Write::UpsertStep(step.clone()));
            }
        }
        writes.append(&mut self.writes);
        number_lines(&mut writes);
        let withdraws = |write: &Write| {
            matches!(write, Write::CloseInstance(_) | Write::CloseStep(_) | Write::CancelTask(_))
        };
        if writes.iter().any(withdraws) {
            self.hints.push(Hint::Withdrawn { tenant: tenant.clone() });
        }
        self.hints.push(Hint::Instance { tenant, id });
        let Self { instance, steps, known, whole, .. } = self;
        let set = WriteSet { guards: self.guards, writes, hints: self.hints };
        (set, Snapshot { instance, steps, known, whole })
    }
}

/// Lines of the journal get their ids when all is decided: the later, the fewer lines of somebody else come in between, which who
/// reads on after would pass. They follow one another directly, since the lines of one fold are stored as one row.
fn number_lines(writes: &mut [Write]) {
    let mut id = fresh();
    for write in writes {
        if let Write::InsertJournal(line) = write {
            line.id = id;
            id = successor(id);
        }
    }
}

fn update(instance: &Instance, context_changed: bool) -> InstanceUpdate {
    InstanceUpdate {
        id: instance.id,
        tenant: instance.tenant.clone(),
        status: instance.status,
        version: instance.version,
        open_steps: instance.open_steps,
        open_incidents: instance.open_incidents,
        error: instance.error.clone(),
        context: context_changed.then(|| instance.context.clone()),
        updated_at: instance.updated_at,
        ended_at: instance.ended_at,
        turns: instance.turns.clone(),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::domain::InstanceId;
    use crate::domain::TenantId;
    use crate::domain::journal::JournalEntry;

    fn line() -> Write {
        Write::InsertJournal(JournalEntry {
            id: Uuid::nil(),
            tenant: TenantId::default(),
            instance_id: InstanceId::new(),
            subject_id: Uuid::nil(),
            seq: 0,
            kind: "start".into(),
            step_id: None,
            at: Timestamp::from_millis(0),
            plugin_digest: None,
            note: None,
            call: None,
            answer: None,
            fuel: None,
            memory_bytes: None,
        })
    }

    #[test]
    fn lines_follow_one_another_and_what_was_written_while_they_were_decided() {
        let mut writes = [line(), line(), line()];
        let of_somebody_else = fresh();
        number_lines(&mut writes);
        let ids: Vec<Uuid> = writes
            .iter()
            .filter_map(|write| match write {
                Write::InsertJournal(line) => Some(line.id),
                _ => None,
            })
            .collect();
        assert!(ids[0] > of_somebody_else);
        assert_eq!(ids, [ids[0], successor(ids[0]), successor(successor(ids[0]))]);
    }
}
