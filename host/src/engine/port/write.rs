//! What a transition changes, as data: guards that must hold, and rows to write.

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

pub use super::changes::{InstanceUpdate, TaskLocked};
use super::events::{EventTriggersKept, KeptGone, RejectedForgotten, WaitsForgotten};
pub use super::outgoing::{DeadItem, Named};
use super::{Guard, Hint};
use crate::domain::batch::{Batch, BatchesForgotten};
use crate::domain::definition::DefinitionRow;
use crate::domain::event::InboxEvent;
use crate::domain::incident::Incident;
use crate::domain::incoming::RejectedEvent;
use crate::domain::instance::Instance;
use crate::domain::journal::{Blob, JournalEntry};
use crate::domain::plugin::PluginKind;
use crate::domain::reminder::Reminder;
use crate::domain::schedule::Schedule;
use crate::domain::secret::Secret;
use crate::domain::sender::Sender;
use crate::domain::step::StepExecution;
use crate::domain::task::Task;
use crate::domain::timer::{OutboxItem, Subscription, Timer};
use crate::domain::token::Token;
use crate::domain::wait::{EventTriggerRow, KeptEvent, TopicFields, WaitState};
use crate::domain::worker::WorkerNote;
use crate::domain::{
    Digest, EventId, IncidentId, InstanceId, StepExecutionId, TenantId, TimerId, Timestamp, TokenId,
};

/// One transition: all of it is written, or nothing.
#[derive(Clone, Debug, Default)]
pub struct WriteSet {
    /// What must hold; checked in the transaction, under locks taken in id order.
    pub guards: Vec<Guard>,
    /// What is written, in an order that the store chooses by kind.
    pub writes: Vec<Write>,
    /// What to announce once it is committed, here and on other nodes.
    pub hints: Vec<Hint>,
}

/// One row to write, or a set of rows to close. Adding one: a variant here, and a pair of `.sql` files.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Write {
    /// A new instance.
    InsertInstance(Instance),
    /// An instance moved on, from the version before the one that it has now.
    UpdateInstance(InstanceUpdate),
    /// A step execution, new or changed.
    UpsertStep(StepExecution),
    /// A new task.
    InsertTask(Task),
    /// A task changed, from the version before the one that it has now. Its input never does.
    UpdateTask(Task),
    /// A pending task is held, from the version before the one that it has now.
    LockTask(TaskLocked),
    /// Withdraw a task of a step by key, if it is open.
    CancelTask(StepKey),
    /// A timer, new or moved.
    UpsertTimer(Timer),
    /// A timer has fired.
    FireTimer(TimerFired),
    /// Withdraw a timer of a step by key, if it has not fired.
    CancelTimer(StepKey),
    /// A new subscription; the same key of the same step is left as it is.
    InsertSubscription(Subscription),
    /// End a subscription of a step by key.
    DeleteSubscription(StepKey),
    /// What a step waits for from outside, new or changed.
    UpsertWait(WaitState),
    /// Waits that ended long ago are forgotten.
    ForgetWaits(WaitsForgotten),
    /// An event is kept for a wait that has not begun.
    InsertKept(KeptEvent),
    /// An event is no longer kept.
    DeleteKept(KeptGone),
    /// An event was refused.
    InsertRejected(RejectedEvent),
    /// Refused events beyond the bound are forgotten.
    ForgetRejected(RejectedForgotten),
    /// A topic that a workflow names; the same again is left as it is.
    InsertTopic(TopicFields),
    /// A workflow was deployed: events start it by these triggers, and no others.
    KeepEventTriggers(EventTriggersKept),
    /// A trigger of a deployed workflow, new or as the new version has it.
    UpsertEventTrigger(EventTriggerRow),
    /// A new outgoing item.
    InsertOutbox(OutboxItem),
    /// An outgoing item is to be tried again.
    UpdateOutbox(OutboxItem),
    /// An outgoing item is done.
    DeleteOutbox(OutboxDone),
    /// An outgoing item was given up.
    InsertDead(DeadItem),
    /// An outgoing item that was given up is forgotten, or sent again.
    DeleteDead(OutboxDone),
    /// Keep an event for later.
    InsertEvent(InboxEvent),
    /// An event was consumed.
    DeleteEvent(EventDone),
    /// A new incident.
    InsertIncident(Incident),
    /// An incident is over.
    ResolveIncident(IncidentDone),
    /// A line of the journal. (subject, seq) is unique.
    InsertJournal(JournalEntry),
    /// A big part of the journal; the same again is left as it is.
    InsertBlob(Blob),
    /// An instance was started with an idempotency key.
    InsertStartKey(StartKey),
    /// A step ended: its open tasks are cancelled, its timers, subscriptions and events removed.
    CloseStep(StepClosed),
    /// An instance ended: the same for all of its steps, open steps are cancelled, incidents resolved.
    CloseInstance(InstanceClosed),
    /// What a host has heard of a worker.
    NoteWorker(WorkerNote),
    /// Workers that nobody has heard of for long are forgotten, and those over a tenant's bound.
    ForgetWorkers(WorkersForgotten),
    /// Batches that are over are removed.
    ForgetBatches(BatchesForgotten),
    /// A new version of a workflow.
    InsertDefinition(DefinitionRow),
    /// A workflow was deployed: its schedules are these, and no others.
    KeepSchedules(SchedulesKept),
    /// A schedule of a deployed workflow, new or as the new version has it.
    UpsertSchedule(Schedule),
    /// A schedule moved on, from the version before the one that it has now.
    UpdateSchedule(Schedule),
    /// An instance ended: due times that waited for it may begin.
    WakeSchedules(SchedulesWoken),
    /// A new component; the same digest again is left as it is.
    InsertPlugin(PluginRow),
    /// A new token.
    InsertToken(Token),
    /// A token is no longer valid.
    RevokeToken(TokenRevoked),
    /// A batch, new or further.
    UpsertBatch(Batch),
    /// A secret, new or with a new value.
    UpsertSecret(Secret),
    /// The same secret under another key.
    ResealSecret(Secret),
    /// A secret is forgotten.
    DeleteSecret(Named),
    /// A sender, new or with other settings.
    UpsertSender(Sender),
    /// A sender is forgotten.
    DeleteSender(Named),
    /// A try of a note to people.
    InsertReminder(Reminder),
    /// An ended instance is removed with everything of it (retention).
    DeleteInstance(InstanceGone),
    /// The journal and blobs of an ended instance are removed (retention).
    DeleteJournal(InstanceGone),
}

impl WriteSet {
    /// About how many bytes it writes: what users and plugins bring counts, the rest is small change.
    pub fn bytes(&self) -> usize {
        self.writes.iter().map(Write::bytes).sum()
    }
}

/// What a row costs besides its big parts.
const ROW_BYTES: usize = 200;

impl Write {
    fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let value = |value: &Option<Value>| value.as_ref().map_or(0, json_bytes);
        ROW_BYTES
            + match self {
                Self::InsertInstance(row) => json_bytes(&row.context) + json_bytes(&row.trigger),
                Self::UpdateInstance(row) => row.context.as_ref().map_or(0, json_bytes),
                Self::UpsertStep(row) => text(&row.config) + text(&row.state) + value(&row.output),
                Self::InsertTask(row) | Self::UpdateTask(row) => json_bytes(&row.input) + value(&row.output),
                Self::InsertOutbox(row) | Self::UpdateOutbox(row) => row.payload.len(),
                Self::InsertEvent(row) => row.event.len(),
                Self::UpsertWait(row) => {
                    value(&row.api_response_data) + value(&row.kafka_event_data) + value(&row.event_data)
                }
                Self::InsertKept(row) => row.event.len(),
                Self::InsertReminder(row) => row.message.len(),
                Self::InsertJournal(row) => row.bytes(),
                Self::InsertBlob(row) => row.body.len(),
                Self::InsertDefinition(row) => row.source.len() + json_bytes(&row.document),
                Self::InsertPlugin(row) => row.component.len(),
                _ => 0,
            }
    }
}

/// About how long a value is as text, without writing it.
pub(crate) fn json_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| json_bytes(item) + 1).sum::<usize>() + 2,
        Value::Object(members) => {
            members.iter().map(|(name, member)| name.len() + json_bytes(member) + 4).sum::<usize>() + 2
        }
        Value::Number(_) => 8,
        Value::Null | Value::Bool(_) => 5,
    }
}

/// Something of a step, by the key that its plugin chose.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct StepKey {
    pub tenant: TenantId,
    pub step_execution_id: StepExecutionId,
    pub key: String,
    pub at: Timestamp,
}

/// A timer has fired.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct TimerFired {
    pub id: TimerId,
    pub tenant: TenantId,
    /// As read: one that was moved meanwhile does not fire.
    pub trigger_at: Timestamp,
    pub at: Timestamp,
}

/// A workflow has these schedules, by their triggers.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SchedulesKept {
    pub tenant: TenantId,
    pub workflow_key: String,
    pub trigger_ids: Vec<String>,
}

/// Due times of a workflow may go on.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SchedulesWoken {
    pub tenant: TenantId,
    pub workflow_key: String,
    pub at: Timestamp,
}

/// An outgoing item is done.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct OutboxDone {
    pub tenant: TenantId,
    pub id: Uuid,
}

/// An event was consumed.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct EventDone {
    pub tenant: TenantId,
    pub id: EventId,
}

/// An incident is over.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct IncidentDone {
    pub tenant: TenantId,
    pub id: IncidentId,
    pub at: Timestamp,
}

/// An instance was started with an idempotency key.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct StartKey {
    pub tenant: TenantId,
    pub workflow_key: String,
    pub key: String,
    pub instance_id: InstanceId,
    pub created_at: Timestamp,
}

/// A step ended.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct StepClosed {
    pub tenant: TenantId,
    pub step_execution_id: StepExecutionId,
    pub at: Timestamp,
}

/// An instance ended.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct InstanceClosed {
    pub tenant: TenantId,
    pub instance_id: InstanceId,
    pub at: Timestamp,
}

/// An instance is removed.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct InstanceGone {
    pub tenant: TenantId,
    pub instance_id: InstanceId,
}

/// Workers are forgotten.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct WorkersForgotten {
    pub seen_before: Timestamp,
    pub per_tenant_max: u32,
}

/// A component to store.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "as in StoredPlugin")]
pub struct PluginRow {
    pub digest: Digest,
    pub kind: PluginKind,
    pub types: Vec<String>,
    pub descriptor: Value,
    /// The component's bytes, base64.
    pub component: String,
    pub created_at: Timestamp,
}

/// A token is no longer valid.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct TokenRevoked {
    pub tenant: TenantId,
    pub id: TokenId,
    pub at: Timestamp,
}

/// What became of one transition of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is written.
    Applied,
    /// A guard did not hold: read again and decide again.
    Conflict,
    /// The idempotency key was used before, for this instance.
    Started(InstanceId),
    /// The database refused its data; nothing of it is written. Others of the batch are.
    Refused(String),
}
