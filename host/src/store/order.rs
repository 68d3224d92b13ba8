//! The order in which a batch is written, kind by kind, and what makes two rows of a kind the same row.

use uuid::Uuid;

use super::statement::{self, Statement};
use crate::domain::wait::TopicFields;
use crate::domain::{StepExecutionId, TenantId};
use crate::engine::port::Write;
use crate::engine::port::write::StepKey;

/// A kind of write. The order of the variants is the order of the statements:
///
/// - rows before those that belong to them (instances, steps, tasks);
/// - of timers and subscriptions first what goes, then what comes, since a key may be used again (what comes
///   and goes within one transition is left out by [`super::prepare`]);
/// - closing after everything that may have been made for the closed step or instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    InsertDefinition,
    KeepSchedules,
    UpsertSchedule,
    UpdateSchedule,
    WakeSchedules,
    KeepEventTriggers,
    UpsertEventTrigger,
    InsertTopic,
    InsertPlugin,
    InsertToken,
    RevokeToken,
    InsertInstance,
    UpdateInstance,
    UpsertStep,
    InsertTask,
    UpdateTask,
    LockTask,
    CancelTask,
    FireTimer,
    CancelTimer,
    UpsertTimer,
    DeleteSubscription,
    InsertSubscription,
    UpsertWait,
    InsertKept,
    DeleteKept,
    InsertEvent,
    DeleteEvent,
    InsertOutbox,
    UpdateOutbox,
    DeleteOutbox,
    InsertDead,
    DeleteDead,
    InsertReminder,
    InsertIncident,
    ResolveIncident,
    InsertBlob,
    InsertJournal,
    CloseStep,
    CloseInstance,
    UpsertBatch,
    UpsertSecret,
    ResealSecret,
    DeleteSecret,
    UpsertSender,
    DeleteSender,
    DeleteJournal,
    DeleteInstance,
    NoteWorker,
    ForgetWorkers,
    ForgetBatches,
    ForgetWaits,
    InsertRejected,
    ForgetRejected,
    /// Not a statement of its own: [`super::guard`] takes the keys as it checks them.
    InsertStartKey,
}

impl Kind {
    /// Whether its rows are changed only as they were read: the statement says how many it found.
    pub(super) fn expects_its_rows(self) -> bool {
        matches!(self, Self::UpdateInstance | Self::UpdateTask | Self::LockTask | Self::FireTimer)
    }

    /// The statement that writes all rows of the kind.
    pub(super) fn statement(self) -> Option<&'static Statement> {
        Some(match self {
            Self::InsertDefinition => &statement::INSERT_DEFINITIONS,
            Self::KeepSchedules => &statement::KEEP_SCHEDULES,
            Self::UpsertSchedule => &statement::UPSERT_SCHEDULES,
            Self::UpdateSchedule => &statement::UPDATE_SCHEDULES,
            Self::WakeSchedules => &statement::WAKE_SCHEDULES,
            Self::KeepEventTriggers => &statement::KEEP_EVENT_TRIGGERS,
            Self::UpsertEventTrigger => &statement::UPSERT_EVENT_TRIGGERS,
            Self::InsertTopic => &statement::INSERT_TOPICS,
            Self::InsertPlugin => &statement::INSERT_PLUGINS,
            Self::InsertToken => &statement::INSERT_TOKENS,
            Self::RevokeToken => &statement::REVOKE_TOKENS,
            Self::InsertInstance => &statement::INSERT_INSTANCES,
            Self::UpdateInstance => &statement::UPDATE_INSTANCES,
            Self::UpsertStep => &statement::UPSERT_STEPS,
            Self::InsertTask => &statement::INSERT_TASKS,
            Self::UpdateTask => &statement::UPDATE_TASKS,
            Self::LockTask => &statement::LOCK_TASKS,
            Self::CancelTask => &statement::CANCEL_TASKS,
            Self::FireTimer => &statement::FIRE_TIMERS,
            Self::CancelTimer => &statement::CANCEL_TIMERS,
            Self::UpsertTimer => &statement::UPSERT_TIMERS,
            Self::DeleteSubscription => &statement::DELETE_SUBSCRIPTIONS,
            Self::InsertSubscription => &statement::INSERT_SUBSCRIPTIONS,
            Self::UpsertWait => &statement::UPSERT_WAITS,
            Self::InsertKept => &statement::INSERT_KEPT,
            Self::DeleteKept => &statement::DELETE_KEPT,
            Self::InsertEvent => &statement::INSERT_EVENTS,
            Self::DeleteEvent => &statement::DELETE_EVENTS,
            Self::InsertOutbox => &statement::INSERT_OUTBOX,
            Self::UpdateOutbox => &statement::UPDATE_OUTBOX,
            Self::DeleteOutbox => &statement::DELETE_OUTBOX,
            Self::InsertDead => &statement::INSERT_DEAD,
            Self::DeleteDead => &statement::DELETE_DEAD,
            Self::InsertIncident => &statement::INSERT_INCIDENTS,
            Self::ResolveIncident => &statement::RESOLVE_INCIDENTS,
            Self::InsertBlob => &statement::INSERT_BLOBS,
            Self::InsertJournal => &statement::INSERT_JOURNAL,
            Self::CloseStep => &statement::CLOSE_STEPS,
            Self::CloseInstance => &statement::CLOSE_INSTANCES,
            Self::UpsertBatch => &statement::UPSERT_BATCHES,
            Self::UpsertSecret => &statement::UPSERT_SECRETS,
            Self::ResealSecret => &statement::RESEAL_SECRETS,
            Self::DeleteSecret => &statement::DELETE_SECRETS,
            Self::UpsertSender => &statement::UPSERT_SENDERS,
            Self::DeleteSender => &statement::DELETE_SENDERS,
            Self::InsertReminder => &statement::INSERT_REMINDERS,
            Self::DeleteJournal => &statement::DELETE_JOURNALS,
            Self::DeleteInstance => &statement::DELETE_INSTANCES,
            Self::NoteWorker => &statement::NOTE_WORKERS,
            Self::ForgetWorkers => &statement::FORGET_WORKERS,
            Self::ForgetBatches => &statement::FORGET_BATCHES,
            Self::ForgetWaits => &statement::FORGET_WAITS,
            Self::InsertRejected => &statement::INSERT_REJECTED,
            Self::ForgetRejected => &statement::FORGET_REJECTED,
            Self::InsertStartKey => return None,
        })
    }
}

/// What tells two rows of a kind apart. The order is that in which locks are taken, the same for everyone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Name {
    Id(Uuid),
    Within(Uuid, String),
    Text(String),
}

/// The kind of a write, and which row it is of that kind. Rows of one statement are in the order of their names,
/// so that two batches take locks in the same order.
pub(super) fn classify(write: &Write) -> (Kind, Name) {
    match write {
        Write::InsertDefinition(row) => {
            (Kind::InsertDefinition, joined(&[&row.tenant, &row.key, &row.version]))
        }
        Write::KeepSchedules(row) => (Kind::KeepSchedules, joined(&[&row.tenant, &row.workflow_key])),
        Write::UpsertSchedule(row) => {
            (Kind::UpsertSchedule, joined(&[&row.tenant, &row.workflow_key, &row.trigger_id]))
        }
        Write::UpdateSchedule(row) => (Kind::UpdateSchedule, id(row.id)),
        Write::WakeSchedules(row) => (Kind::WakeSchedules, joined(&[&row.tenant, &row.workflow_key])),
        Write::KeepEventTriggers(row) => (Kind::KeepEventTriggers, joined(&[&row.tenant, &row.workflow_key])),
        Write::UpsertEventTrigger(row) => {
            (Kind::UpsertEventTrigger, joined(&[&row.tenant, &row.workflow_key, &row.trigger_id]))
        }
        Write::InsertTopic(row) => (Kind::InsertTopic, topic(row)),
        Write::InsertPlugin(row) => (Kind::InsertPlugin, Name::Text(row.digest.to_string())),
        Write::InsertToken(row) => (Kind::InsertToken, id(row.id)),
        Write::RevokeToken(row) => (Kind::RevokeToken, id(row.id)),
        Write::InsertInstance(row) => (Kind::InsertInstance, id(row.id)),
        Write::UpdateInstance(row) => (Kind::UpdateInstance, id(row.id)),
        Write::UpsertStep(row) => (Kind::UpsertStep, id(row.id)),
        Write::InsertTask(row) => (Kind::InsertTask, id(row.id)),
        Write::UpdateTask(row) => (Kind::UpdateTask, id(row.id)),
        Write::LockTask(row) => (Kind::LockTask, id(row.id)),
        Write::CancelTask(row) => (Kind::CancelTask, by_key(row)),
        Write::FireTimer(row) => (Kind::FireTimer, id(row.id)),
        Write::CancelTimer(row) => (Kind::CancelTimer, by_key(row)),
        Write::UpsertTimer(row) => (Kind::UpsertTimer, within_step(row.step_execution_id, &row.key)),
        Write::DeleteSubscription(row) => (Kind::DeleteSubscription, by_key(row)),
        Write::InsertSubscription(row) => {
            (Kind::InsertSubscription, within_step(row.step_execution_id, &row.key))
        }
        Write::UpsertWait(row) => (Kind::UpsertWait, id(row.id)),
        Write::InsertKept(row) => (Kind::InsertKept, id(row.id)),
        Write::DeleteKept(row) => (Kind::DeleteKept, id(row.id)),
        Write::InsertEvent(row) => (Kind::InsertEvent, id(row.id)),
        Write::DeleteEvent(row) => (Kind::DeleteEvent, id(row.id)),
        Write::InsertOutbox(row) => (Kind::InsertOutbox, id(row.id)),
        Write::UpdateOutbox(row) => (Kind::UpdateOutbox, id(row.id)),
        Write::DeleteOutbox(row) => (Kind::DeleteOutbox, id(row.id)),
        Write::InsertDead(row) => (Kind::InsertDead, id(row.item.id)),
        Write::DeleteDead(row) => (Kind::DeleteDead, id(row.id)),
        Write::InsertIncident(row) => (Kind::InsertIncident, id(row.id)),
        Write::ResolveIncident(row) => (Kind::ResolveIncident, id(row.id)),
        Write::InsertBlob(row) => (Kind::InsertBlob, Name::Within(row.instance_id.0, row.hash.to_string())),
        Write::InsertJournal(row) => (Kind::InsertJournal, id(row.id)),
        Write::CloseStep(row) => (Kind::CloseStep, id(row.step_execution_id)),
        Write::CloseInstance(row) => (Kind::CloseInstance, id(row.instance_id)),
        Write::UpsertBatch(row) => (Kind::UpsertBatch, id(row.id)),
        Write::UpsertSecret(row) => (Kind::UpsertSecret, named(&row.tenant, &row.name)),
        Write::ResealSecret(row) => (Kind::ResealSecret, named(&row.tenant, &row.name)),
        Write::DeleteSecret(row) => (Kind::DeleteSecret, named(&row.tenant, &row.name)),
        Write::UpsertSender(row) => (Kind::UpsertSender, named(&row.tenant, &row.name)),
        Write::DeleteSender(row) => (Kind::DeleteSender, named(&row.tenant, &row.name)),
        Write::InsertReminder(row) => (Kind::InsertReminder, id(row.id)),
        Write::DeleteJournal(row) => (Kind::DeleteJournal, id(row.instance_id)),
        Write::DeleteInstance(row) => (Kind::DeleteInstance, id(row.instance_id)),
        Write::NoteWorker(row) => (Kind::NoteWorker, joined(&[&row.tenant, &row.worker_id])),
        Write::ForgetWorkers(row) => (Kind::ForgetWorkers, Name::Text(row.seen_before.to_string())),
        Write::ForgetBatches(row) => (Kind::ForgetBatches, Name::Text(row.finished_before.to_string())),
        Write::ForgetWaits(row) => (Kind::ForgetWaits, Name::Text(row.ended_before.to_string())),
        Write::InsertRejected(row) => (Kind::InsertRejected, id(row.id)),
        Write::ForgetRejected(row) => (Kind::ForgetRejected, Name::Text(row.created_before.to_string())),
        Write::InsertStartKey(row) => {
            (Kind::InsertStartKey, Name::Text(start_key(row.tenant.as_str(), &row.workflow_key, &row.key)))
        }
    }
}

/// The name of something that a plugin made, by its key.
fn within_step(step: StepExecutionId, key: &str) -> Name {
    Name::Within(step.0, key.to_owned())
}

fn by_key(row: &StepKey) -> Name {
    within_step(row.step_execution_id, &row.key)
}

fn topic(row: &TopicFields) -> Name {
    joined(&[&row.tenant, &row.topic, &row.correlation_field, &row.execution_field])
}

/// The name of something that several words name.
fn joined(words: &[&dyn std::fmt::Display]) -> Name {
    Name::Text(words.iter().map(ToString::to_string).collect::<Vec<_>>().join("\u{1f}"))
}

/// The name of something that a tenant names.
fn named(tenant: &TenantId, name: &str) -> Name {
    joined(&[tenant, &name])
}

fn id(id: impl Into<Uuid>) -> Name {
    Name::Id(id.into())
}

/// The name of an idempotency key. The unit separator cannot stand in a tenant's name or a workflow's key.
pub(super) fn start_key(tenant: &str, workflow_key: &str, key: &str) -> String {
    format!("{tenant}\u{1f}{workflow_key}\u{1f}{key}")
}
