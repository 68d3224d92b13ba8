//! What a commit does to the rows in memory.

use stepwell::domain::StepExecutionId;
use stepwell::domain::Timestamp;
use stepwell::domain::instance::Instance;
use stepwell::domain::step::StepStatus;
use stepwell::domain::task::{Task, TaskStatus};
use stepwell::engine::port::{Guard, Verdict, Write, WriteSet};

use super::memory::Tables;

/// Checks the guards of a transition and writes it, or nothing.
pub fn apply(tables: &mut Tables, set: &WriteSet) -> Verdict {
    for guard in &set.guards {
        if let Some(verdict) = refuse(tables, guard) {
            return verdict;
        }
    }
    let twice = set.writes.iter().any(|write| match write {
        Write::InsertJournal(row) => tables.journal_keys.contains(&(row.subject_id, row.seq)),
        Write::InsertInstance(row) => tables.instances.contains_key(&row.id),
        _ => false,
    });
    if twice {
        return Verdict::Refused("a row with this key exists".into());
    }
    let closes = |write: &&Write| matches!(write, Write::CloseStep(_) | Write::CloseInstance(_));
    for write in set.writes.iter().filter(|write| !closes(write)) {
        insert_or_update(tables, write);
    }
    for write in set.writes.iter().filter(closes) {
        close(tables, write);
    }
    Verdict::Applied
}

fn refuse(tables: &Tables, guard: &Guard) -> Option<Verdict> {
    let holds = match guard {
        Guard::Instance { id, version, .. } => {
            tables.instances.get(id).is_some_and(|row: &Instance| row.version == *version)
        }
        Guard::Task { id, version, .. } => tables.tasks.get(id).is_some_and(|row| row.version == *version),
        Guard::Timer { id, trigger_at, .. } => {
            tables.timers.get(id).is_some_and(|(row, _)| !row.triggered && row.trigger_at == *trigger_at)
        }
        Guard::Schedule { .. } => true,
        Guard::Subscription { id, .. } => tables.subscriptions.contains_key(id),
        Guard::Outbox { id, .. } => tables.outbox.contains_key(id),
        Guard::StartKey { tenant, workflow_key, key } => {
            let name = (tenant.clone(), workflow_key.clone(), key.clone());
            if let Some(id) = tables.start_keys.get(&name) {
                return Some(Verdict::Started(*id));
            }
            true
        }
        Guard::DefinitionVersion { tenant, key, version } | Guard::NewestVersion { tenant, key, version } => {
            let of_key = tables.definitions.iter().filter(|row| row.tenant == *tenant && row.key == *key);
            of_key.map(|row| row.version).max().unwrap_or(0) == *version
        }
    };
    (!holds).then_some(Verdict::Conflict)
}

fn insert_or_update(tables: &mut Tables, write: &Write) {
    match write {
        Write::InsertInstance(row) => {
            tables.instances.insert(row.id, row.clone());
        }
        Write::UpdateInstance(row) => {
            if let Some(instance) = tables.instances.get_mut(&row.id) {
                instance.status = row.status;
                instance.version = row.version;
                instance.open_steps = row.open_steps;
                instance.open_incidents = row.open_incidents;
                instance.error.clone_from(&row.error);
                if let Some(context) = &row.context {
                    instance.context = context.clone();
                }
                instance.updated_at = row.updated_at;
                instance.ended_at = row.ended_at;
                instance.turns.clone_from(&row.turns);
            }
        }
        Write::UpsertStep(row) => {
            tables.steps.insert(row.id, row.clone());
        }
        Write::InsertTask(row) | Write::UpdateTask(row) => {
            tables.tasks.insert(row.id, row.clone());
        }
        Write::LockTask(row) => {
            if let Some(task) = tables.tasks.get_mut(&row.id) {
                task.status = TaskStatus::Locked;
                task.worker_id.clone_from(&row.worker_id);
                task.lock_token = row.lock_token;
                (task.locked_at, task.last_heartbeat_at) = (row.locked_at, row.locked_at);
                (task.lock_expires_at, task.due_at) = (row.lock_expires_at, row.due_at);
                task.updated_at = row.locked_at.unwrap_or(task.updated_at);
                task.version = row.version;
            }
        }
        Write::CancelTask(by) => cancel_tasks(tables, by.at, |task| {
            task.step_execution_id == by.step_execution_id && task.key == by.key
        }),
        Write::UpsertTimer(row) => {
            tables.timers.retain(|_, (timer, _)| {
                timer.step_execution_id != row.step_execution_id || timer.key != row.key
            });
            tables.timers.insert(row.id, (row.clone(), row.trigger_at));
        }
        Write::FireTimer(fired) => {
            if let Some((timer, _)) = tables.timers.get_mut(&fired.id) {
                timer.triggered = true;
                timer.triggered_at = Some(fired.at);
            }
        }
        Write::CancelTimer(by) => tables.timers.retain(|_, (timer, _)| {
            timer.triggered || timer.step_execution_id != by.step_execution_id || timer.key != by.key
        }),
        Write::InsertSubscription(row) => {
            tables.subscriptions.insert(row.id, row.clone());
        }
        Write::DeleteSubscription(by) => tables
            .subscriptions
            .retain(|_, row| row.step_execution_id != by.step_execution_id || row.key != by.key),
        Write::InsertOutbox(row) | Write::UpdateOutbox(row) => {
            tables.outbox.insert(row.id, row.clone());
        }
        Write::DeleteOutbox(done) => {
            tables.outbox.remove(&done.id);
        }
        Write::InsertEvent(row) => {
            tables.events.insert(row.id, row.clone());
        }
        Write::DeleteEvent(done) => {
            tables.events.remove(&done.id);
        }
        Write::InsertIncident(row) => {
            tables.incidents.insert(row.id, row.clone());
        }
        Write::ResolveIncident(done) => {
            if let Some(row) = tables.incidents.get_mut(&done.id) {
                row.resolved_at = Some(done.at);
            }
        }
        Write::InsertJournal(row) => {
            tables.journal_keys.insert((row.subject_id, row.seq));
            tables.journal.push(row.clone());
        }
        Write::InsertStartKey(row) => {
            let name = (row.tenant.clone(), row.workflow_key.clone(), row.key.clone());
            tables.start_keys.insert(name, row.instance_id);
        }
        Write::InsertDefinition(row) => tables.definitions.push(row.clone()),
        Write::UpsertWait(_)
        | Write::InsertKept(_)
        | Write::DeleteKept(_)
        | Write::InsertRejected(_)
        | Write::InsertTopic(_)
        | Write::KeepEventTriggers(_)
        | Write::UpsertEventTrigger(_)
        | Write::ForgetWaits(_)
        | Write::ForgetRejected(_) => tables.outside.write(write),
        Write::InsertBlob(_)
        | Write::InsertPlugin(_)
        | Write::InsertToken(_)
        | Write::RevokeToken(_)
        | Write::UpsertBatch(_)
        | Write::InsertDead(_)
        | Write::DeleteDead(_)
        | Write::UpsertSecret(_)
        | Write::ResealSecret(_)
        | Write::DeleteSecret(_)
        | Write::UpsertSender(_)
        | Write::DeleteSender(_)
        | Write::InsertReminder(_)
        | Write::KeepSchedules(_)
        | Write::UpsertSchedule(_)
        | Write::UpdateSchedule(_)
        | Write::WakeSchedules(_)
        | Write::DeleteInstance(_)
        | Write::DeleteJournal(_)
        | Write::NoteWorker(_)
        | Write::ForgetWorkers(_)
        | Write::ForgetBatches(_)
        | Write::CloseStep(_)
        | Write::CloseInstance(_) => {}
    }
}

fn close(tables: &mut Tables, write: &Write) {
    match write {
        Write::CloseStep(closed) => close_steps(tables, closed.at, |id| id == closed.step_execution_id),
        Write::CloseInstance(closed) => {
            let steps: Vec<StepExecutionId> = tables
                .steps
                .values()
                .filter(|row| row.instance_id == closed.instance_id)
                .map(|row| row.id)
                .collect();
            close_steps(tables, closed.at, |id| steps.contains(&id));
            for step in tables.steps.values_mut().filter(|row| row.instance_id == closed.instance_id) {
                if step.status.open() || step.status == StepStatus::Pending {
                    step.status = StepStatus::Cancelled;
                    step.ended_at = Some(closed.at);
                }
            }
            for row in tables.incidents.values_mut().filter(|row| row.instance_id == closed.instance_id) {
                row.resolved_at.get_or_insert(closed.at);
            }
        }
        _ => {}
    }
}

fn close_steps(tables: &mut Tables, at: Timestamp, of: impl Fn(StepExecutionId) -> bool) {
    cancel_tasks(tables, at, |task| of(task.step_execution_id));
    tables.timers.retain(|_, (timer, _)| timer.triggered || !of(timer.step_execution_id));
    tables.subscriptions.retain(|_, row| !of(row.step_execution_id));
    tables.events.retain(|_, row| !of(row.step_execution_id));
    tables.outside.close(at, of);
}

fn cancel_tasks(tables: &mut Tables, at: Timestamp, of: impl Fn(&Task) -> bool) {
    for task in tables.tasks.values_mut().filter(|task| task.status.open() && of(task)) {
        task.status = TaskStatus::Cancelled;
        task.completed_at = Some(at);
        task.due_at = None;
        task.lock_expires_at = None;
        task.version += 1;
    }
}
