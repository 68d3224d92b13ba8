//! The store as the engine knows it: three write verbs (`commit`, `claim`, `lease`), and reads.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::{Hint, TaskQueries, TimeRows, Verdict, WriteSet};
use crate::domain::definition::DefinitionRow;
use crate::domain::event::InboxEvent;
use crate::domain::incident::Incident;
use crate::domain::instance::{Instance, InstanceStatus};
use crate::domain::journal::{Blob, JournalEntry};
use crate::domain::page::PageRequest;
use crate::domain::plugin::StoredPlugin;
use crate::domain::step::StepExecution;
use crate::domain::task::{Task, TaskStatus};
use crate::domain::timer::{OutboxItem, Subscription, Timer};
use crate::domain::token::Token;
use crate::domain::{
    Digest, IncidentId, InstanceId, LockToken, StepExecutionId, TaskId, TenantId, TimerId, Timestamp, TokenId,
};

/// Why the store did not do it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached, or is starting, stopping or out of connections.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// A commit was sent, and nobody can say whether it was done.
    #[error("the outcome of a commit is not known: {0}")]
    Unknown(String),
    /// A mistake of ours, or a database that was changed by hand.
    #[error("the database refused a statement: {0}")]
    Broken(String),
}

/// Short for the store's results.
pub type Result<T> = std::result::Result<T, StoreError>;

/// The right to be the batch that is being written. It ends with its last copy at the latest.
#[derive(Clone, Default)]
pub struct Turn {
    held: Arc<Mutex<Option<Box<dyn Send>>>>,
}

impl Turn {
    /// A turn that keeps something for as long as it lasts.
    pub fn new(held: impl Send + 'static) -> Self {
        Self { held: Arc::new(Mutex::new(Some(Box::new(held)))) }
    }

    /// Lets the next one begin.
    pub fn end(&self) {
        drop(self.held.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Takes pending tasks for pollers: one statement serves every poller that waits for the same.
#[derive(Clone, Debug)]
pub struct TaskClaim {
    /// Whose.
    pub tenant: TenantId,
    /// Any of these task types.
    pub task_types: Vec<String>,
    /// The time.
    pub now: Timestamp,
    /// One for each task that can be taken, in the order in which tasks are handed out.
    pub slots: Vec<ClaimSlot>,
}

/// A place for one task.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ClaimSlot {
    /// Who will hold it.
    pub worker_id: Option<String>,
    /// What will prove it.
    pub lock_token: LockToken,
    /// How long it is held, if the worker said so; else as the task says.
    pub lock_ms: Option<i64>,
}

/// A changed lease on a task: written only if the task's version is still the one that was read.
#[derive(Clone, Debug)]
pub struct TaskLease {
    /// The row to write (its `version` already raised).
    pub task: Task,
    /// The version that was read.
    pub read_version: i64,
}

/// Which instances a list shows.
#[derive(Clone, Debug, Default)]
pub struct InstanceFilter {
    /// Only this workflow's.
    pub workflow_key: Option<String>,
    /// Only in this state.
    pub status: Option<InstanceStatus>,
    /// Only with this business key.
    pub business_key: Option<String>,
}

/// Which tasks a list shows.
#[derive(Clone, Debug, Default)]
pub struct TaskFilter {
    /// Only this instance's.
    pub instance_id: Option<InstanceId>,
    /// Only in this state.
    pub status: Option<TaskStatus>,
    /// Only of this type.
    pub task_type: Option<String>,
}

/// Which timers a list shows.
#[derive(Clone, Debug, Default)]
pub struct TimerFilter {
    /// Only this instance's.
    pub instance_id: Option<InstanceId>,
    /// Those that have fired, or those that have not.
    pub triggered: bool,
}

/// How many tasks of a tenant are in a state, for metrics.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct TaskCount {
    /// The task type.
    pub task_type: String,
    /// The state.
    pub status: TaskStatus,
    /// How many.
    pub count: i64,
}

/// An ended instance that retention may remove.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct EndedInstance {
    /// Whose.
    pub tenant: TenantId,
    /// Which.
    pub id: InstanceId,
}

/// The database, whichever it is. Every read of users' data is scoped by a tenant.
#[async_trait]
pub trait Store: super::WorkerRows + TaskQueries + TimeRows + super::OutgoingRows + super::EventRows {
    // -- write verbs ---------------------------------------------------------------------------

    /// Writes a batch of transitions in one transaction; the verdicts are in the order of the batch.
    async fn commit(&self, batch: Vec<WriteSet>) -> Result<Vec<Verdict>>;

    /// The same, ending the turn as soon as the next batch may begin: where the database can write one batch while it
    /// waits for the disk with another, that is before this returns.
    async fn commit_in_turn(&self, batch: Vec<WriteSet>, turn: Turn) -> Result<Vec<Verdict>> {
        let verdicts = self.commit(batch).await;
        turn.end();
        verdicts
    }

    /// Locks up to one pending task for each slot, by turn. May return fewer than are pending
    /// (another host held the rows for a moment): "none" means ask again after a while.
    async fn claim_tasks(&self, claim: &TaskClaim) -> Result<Vec<Task>>;

    /// Takes tasks whose `due_at` has passed; it is moved to `lease_until`, so no other host takes them till then.
    async fn claim_due_tasks(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<Task>>;

    /// Takes timers that are due, likewise.
    async fn claim_timers(&self, now: Timestamp, lease_until: Timestamp, rows_max: u32)
    -> Result<Vec<Timer>>;

    /// Takes the due head of each ordering key of the outbox, likewise.
    async fn claim_outbox(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<OutboxItem>>;

    /// Extends or gives back leases on tasks; for each whether it was still held.
    async fn lease_tasks(&self, leases: &[TaskLease]) -> Result<Vec<bool>>;

    /// How many commits it can work on at once without one of them waiting for another from the first to the last.
    fn commits_at_once(&self) -> usize {
        1
    }

    /// Whether other hosts may write to the same database.
    fn shared(&self) -> bool {
        true
    }

    // -- hints -----------------------------------------------------------------------------------

    /// Hints of other hosts: waits for the next ones. On SQLite there are none, and it waits for ever.
    /// After a lost connection it returns [`Hint::Everything`].
    async fn next_hints(&self) -> Vec<Hint>;

    // -- reads for decisions ---------------------------------------------------------------------

    /// The newest version of a workflow, or the one asked for.
    async fn definition(
        &self,
        tenant: &TenantId,
        key: &str,
        version: Option<i32>,
    ) -> Result<Option<DefinitionRow>>;
    /// An instance.
    async fn instance(&self, tenant: &TenantId, id: InstanceId) -> Result<Option<Instance>>;
    /// The newest execution of some steps of an instance; of all its steps, all attempts, if none are named.
    async fn steps(
        &self,
        tenant: &TenantId,
        id: InstanceId,
        step_ids: Option<&[String]>,
    ) -> Result<Vec<StepExecution>>;
    /// A step execution by its id.
    async fn step_execution(&self, tenant: &TenantId, id: StepExecutionId) -> Result<Option<StepExecution>>;
    /// A task.
    async fn task(&self, tenant: &TenantId, id: TaskId) -> Result<Option<Task>>;
    /// Tasks of some types that can be claimed at `now`, in no particular order: all of them, or as many as asked for.
    async fn pending_tasks(
        &self,
        tenant: &TenantId,
        task_types: &[String],
        now: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<Task>>;
    /// Events of a step that are not consumed, in order of arrival.
    async fn events(&self, tenant: &TenantId, step: StepExecutionId) -> Result<Vec<InboxEvent>>;
    /// An incident.
    async fn incident(&self, tenant: &TenantId, id: IncidentId) -> Result<Option<Incident>>;
    /// Subscriptions that a message matches, oldest first.
    async fn matching(
        &self,
        tenant: &TenantId,
        name: &str,
        correlation: Option<&str>,
        now: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<Subscription>>;
    /// The instance that was started with an idempotency key.
    async fn start_key(&self, tenant: &TenantId, workflow_key: &str, key: &str)
    -> Result<Option<InstanceId>>;
    /// When the next task deadline, timer or outgoing item is due, or a task that is not available at `now` becomes
    /// so, over all tenants.
    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>>;
    /// Types of pending tasks that became available by time alone (a retry's wait is over) since `after`, up to `now`.
    async fn available_since(&self, after: Timestamp, now: Timestamp) -> Result<Vec<Hint>>;

    // -- reads for people ------------------------------------------------------------------------

    /// The newest version of each workflow, by key, after a key.
    async fn definitions(
        &self,
        tenant: &TenantId,
        after_key: Option<&str>,
        rows_max: u32,
    ) -> Result<Vec<DefinitionRow>>;
    /// Instances, newest first; one row more than asked for if there are more.
    async fn instances(
        &self,
        tenant: &TenantId,
        filter: &InstanceFilter,
        page: &PageRequest,
    ) -> Result<Vec<Instance>>;
    /// Tasks, newest first, likewise.
    async fn tasks(&self, tenant: &TenantId, filter: &TaskFilter, page: &PageRequest) -> Result<Vec<Task>>;
    /// Incidents, newest first, likewise; open ones only if asked.
    async fn incidents(
        &self,
        tenant: &TenantId,
        instance: Option<InstanceId>,
        open_only: bool,
        page: &PageRequest,
    ) -> Result<Vec<Incident>>;
    /// Open timers of an instance.
    async fn timers(&self, tenant: &TenantId, instance: InstanceId) -> Result<Vec<Timer>>;
    /// A timer.
    async fn timer(&self, tenant: &TenantId, id: TimerId) -> Result<Option<Timer>>;
    /// Timers, newest first; one row more than asked for if there are more.
    async fn timer_list(
        &self,
        tenant: &TenantId,
        filter: &TimerFilter,
        page: &PageRequest,
    ) -> Result<Vec<Timer>>;
    /// The journal of an instance, oldest first, after a line; one row more than asked for if there are more.
    async fn journal(
        &self,
        tenant: &TenantId,
        instance: InstanceId,
        page: &PageRequest,
    ) -> Result<Vec<JournalEntry>>;
    /// Parts of an instance's journal by hash.
    async fn blobs(&self, tenant: &TenantId, instance: InstanceId, hashes: &[Digest]) -> Result<Vec<Blob>>;
    /// Outgoing items that wait, of one tenant.
    async fn outbox(&self, tenant: &TenantId, page: &PageRequest) -> Result<Vec<OutboxItem>>;

    // -- reads for the host ----------------------------------------------------------------------

    /// A token by its public part (the tenant is what it tells).
    async fn token(&self, id: TokenId) -> Result<Option<Token>>;
    /// Tokens of a tenant.
    async fn tokens(&self, tenant: &TenantId) -> Result<Vec<Token>>;
    /// Whether any valid token exists.
    async fn has_tokens(&self) -> Result<bool>;
    /// All components, without their bytes, oldest first.
    async fn plugins(&self) -> Result<Vec<StoredPlugin>>;
    /// A component's bytes.
    async fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>>;
    /// Open tasks by type and state, over all tenants.
    async fn task_counts(&self) -> Result<Vec<TaskCount>>;
    /// Instances that ended before a time, oldest first; with `journal_only`, only those that still have a journal.
    async fn ended_before(
        &self,
        before: Timestamp,
        journal_only: bool,
        rows_max: u32,
    ) -> Result<Vec<EndedInstance>>;
    /// Whether the database answers.
    async fn ping(&self) -> Result<()>;
    /// Ends connections in order.
    async fn close(&self);
}
