//! The store as the engine knows it, over either database.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::commit;
use super::driver::{Driver, Single};
use super::prepare::Prepared;
use super::rows::{ended, paged, parse, released};
use super::statement::{self as sql, Statement};
use crate::domain::definition::DefinitionRow;
use crate::domain::event::InboxEvent;
use crate::domain::incident::Incident;
use crate::domain::instance::Instance;
use crate::domain::journal::{Blob, JournalEntry};
use crate::domain::page::PageRequest;
use crate::domain::plugin::StoredPlugin;
use crate::domain::step::StepExecution;
use crate::domain::task::Task;
use crate::domain::timer::{OutboxItem, Subscription, Timer};
use crate::domain::token::Token;
use crate::domain::{
    Digest, IncidentId, InstanceId, StepExecutionId, TaskId, TenantId, TimerId, Timestamp, TokenId,
};
use crate::engine::port::store::{
    EndedInstance, InstanceFilter, Result, TaskClaim, TaskCount, TaskFilter, TaskLease, TimerFilter, Turn,
};
use crate::engine::port::{Hint, Store, StoreError, Verdict, WriteSet};
use crate::metrics as names;

/// A database behind the engine's port.
pub(super) struct Room<D> {
    driver: Arc<D>,
}

impl<D: Driver> Room<D> {
    /// Around a database.
    pub(super) fn new(driver: D) -> Self {
        Self { driver: Arc::new(driver) }
    }

    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        statement: &'static Statement,
        argument: Value,
    ) -> Result<Vec<T>> {
        metrics::counter!(names::STORE_TRANSACTIONS, "kind" => "read").increment(1);
        parse(statement, self.driver.read(statement, &argument.to_string()).await)
    }

    pub(super) async fn read_one<T: DeserializeOwned>(
        &self,
        statement: &'static Statement,
        argument: Value,
    ) -> Result<Option<T>> {
        Ok(self.read(statement, argument).await?.into_iter().next())
    }

    /// Runs in a task of its own: a caller that goes away half-way leaves nothing half-done.
    async fn write<T: DeserializeOwned>(&self, write: Single, argument: String) -> Result<Vec<T>> {
        metrics::counter!(names::STORE_TRANSACTIONS, "kind" => "claim").increment(1);
        let driver = Arc::clone(&self.driver);
        let task = tokio::spawn(async move { driver.write(write, &argument).await });
        parse(write.statement, task.await.map_err(ended)?)
    }

    pub(super) async fn claim_due<T: DeserializeOwned>(
        &self,
        statement: &'static Statement,
        now: Timestamp,
        lease_until: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<T>> {
        let argument = json!({ "now": now, "lease_until": lease_until, "rows_max": rows_max });
        self.write(Single { statement, found: None }, argument.to_string()).await
    }
}

#[async_trait]
impl<D: Driver> Store for Room<D> {
    async fn commit(&self, batch: Vec<WriteSet>) -> Result<Vec<Verdict>> {
        self.commit_in_turn(batch, Turn::default()).await
    }

    async fn commit_in_turn(&self, batch: Vec<WriteSet>, turn: Turn) -> Result<Vec<Verdict>> {
        let sets: Vec<Arc<Prepared>> = batch.into_iter().map(|set| Arc::new(Prepared::new(set))).collect();
        let driver = Arc::clone(&self.driver);
        tokio::spawn(async move { commit::commit(&*driver, &sets, &turn).await }).await.map_err(ended)?
    }

    async fn claim_tasks(&self, claim: &TaskClaim) -> Result<Vec<Task>> {
        if claim.slots.is_empty() || claim.task_types.is_empty() {
            return Ok(Vec::new());
        }
        // A type that is named twice must not be looked through twice.
        let task_types: HashSet<&str> = claim.task_types.iter().map(String::as_str).collect();
        let argument = json!({
            "tenant": claim.tenant, "task_types": task_types, "now": claim.now, "slots": claim.slots,
        });
        let write = Single { statement: &sql::CLAIM_TASKS, found: Some(&sql::CLAIMED_TASKS) };
        let mut tasks: Vec<Task> = self.write(write, argument.to_string()).await?;
        tasks.sort_by_key(|task| (task.turn_at, task.id));
        Ok(tasks)
    }

    async fn claim_due_tasks(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<Task>> {
        let mut tasks: Vec<Task> = self.claim_due(&sql::CLAIM_DUE_TASKS, now, lease_until, rows_max).await?;
        tasks.sort_by_key(|task| (task.deadline(), task.id));
        Ok(tasks)
    }

    async fn claim_timers(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<Timer>> {
        let mut timers: Vec<Timer> = self.claim_due(&sql::CLAIM_TIMERS, now, lease_until, rows_max).await?;
        timers.sort_by_key(|timer| (timer.trigger_at, timer.id));
        Ok(timers)
    }

    async fn claim_outbox(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<OutboxItem>> {
        let mut items: Vec<OutboxItem> =
            self.claim_due(&sql::CLAIM_OUTBOX, now, lease_until, rows_max).await?;
        items.sort_by_key(|item| item.id);
        Ok(items)
    }

    async fn lease_tasks(&self, leases: &[TaskLease]) -> Result<Vec<bool>> {
        #[derive(serde::Serialize)]
        struct Row<'a> {
            #[serde(flatten)]
            task: &'a Task,
            read_version: i64,
        }
        // Of two leases on one task, the second was read before the first was written.
        let mut first = HashSet::new();
        let chosen: Vec<bool> = leases.iter().map(|lease| first.insert(lease.task.id)).collect();
        let mut rows: Vec<&TaskLease> =
            leases.iter().zip(&chosen).filter(|(_, first)| **first).map(|(lease, _)| lease).collect();
        // In id order, as everyone takes locks.
        rows.sort_by_key(|lease| lease.task.id);
        let rows: Vec<Row<'_>> =
            rows.iter().map(|lease| Row { task: &lease.task, read_version: lease.read_version }).collect();
        let argument = serde_json::to_string(&rows).map_err(|error| StoreError::Broken(error.to_string()))?;
        let write = Single { statement: &sql::LEASE_TASKS, found: Some(&sql::LEASED_TASKS) };
        let written: HashSet<TaskId> = self.write(write, argument).await?.into_iter().collect();
        let held = |(lease, first): (&TaskLease, bool)| first && written.contains(&lease.task.id);
        let written: Vec<bool> = leases.iter().zip(chosen).map(held).collect();
        self.driver.announce(released(leases, &written));
        Ok(written)
    }

    fn commits_at_once(&self) -> usize {
        self.driver.commits_at_once()
    }

    fn shared(&self) -> bool {
        self.driver.shared()
    }

    async fn next_hints(&self) -> Vec<Hint> {
        self.driver.next_hints().await
    }

    async fn definition(
        &self,
        tenant: &TenantId,
        key: &str,
        version: Option<i32>,
    ) -> Result<Option<DefinitionRow>> {
        self.read_one(&sql::DEFINITION, json!({ "tenant": tenant, "key": key, "version": version })).await
    }

    async fn instance(&self, tenant: &TenantId, id: InstanceId) -> Result<Option<Instance>> {
        self.read_one(&sql::INSTANCE, json!({ "tenant": tenant, "id": id })).await
    }

    async fn steps(
        &self,
        tenant: &TenantId,
        id: InstanceId,
        step_ids: Option<&[String]>,
    ) -> Result<Vec<StepExecution>> {
        let statement = if step_ids.is_some() { &sql::NEWEST_STEPS } else { &sql::STEPS };
        self.read(statement, json!({ "tenant": tenant, "instance_id": id, "step_ids": step_ids })).await
    }

    async fn step_execution(&self, tenant: &TenantId, id: StepExecutionId) -> Result<Option<StepExecution>> {
        self.read_one(&sql::STEP_EXECUTION, json!({ "tenant": tenant, "id": id })).await
    }

    async fn task(&self, tenant: &TenantId, id: TaskId) -> Result<Option<Task>> {
        self.read_one(&sql::TASK, json!({ "tenant": tenant, "id": id })).await
    }

    async fn pending_tasks(
        &self,
        tenant: &TenantId,
        task_types: &[String],
        now: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<Task>> {
        let argument =
            json!({ "tenant": tenant, "task_types": task_types, "now": now, "rows_max": rows_max });
        self.read(&sql::PENDING_TASKS, argument).await
    }

    async fn events(&self, tenant: &TenantId, step: StepExecutionId) -> Result<Vec<InboxEvent>> {
        self.read(&sql::EVENTS, json!({ "tenant": tenant, "step_execution_id": step })).await
    }

    async fn incident(&self, tenant: &TenantId, id: IncidentId) -> Result<Option<Incident>> {
        self.read_one(&sql::INCIDENT, json!({ "tenant": tenant, "id": id })).await
    }

    async fn matching(
        &self,
        tenant: &TenantId,
        name: &str,
        correlation: Option<&str>,
        now: Timestamp,
        rows_max: u32,
    ) -> Result<Vec<Subscription>> {
        let argument = json!({
            "tenant": tenant, "name": name, "correlation": correlation, "now": now, "rows_max": rows_max,
        });
        self.read(&sql::MATCHING, argument).await
    }

    async fn start_key(
        &self,
        tenant: &TenantId,
        workflow_key: &str,
        key: &str,
    ) -> Result<Option<InstanceId>> {
        #[derive(serde::Deserialize)]
        struct Row {
            instance_id: InstanceId,
        }
        let argument = json!({ "tenant": tenant, "workflow_key": workflow_key, "key": key });
        let row: Option<Row> = self.read_one(&sql::START_KEY, argument).await?;
        Ok(row.map(|row| row.instance_id))
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>> {
        self.read_one(&sql::NEXT_DUE, json!({ "now": now })).await
    }

    async fn available_since(&self, after: Timestamp, now: Timestamp) -> Result<Vec<Hint>> {
        self.read(&sql::AVAILABLE_SINCE, json!({ "after": after, "now": now })).await
    }

    async fn definitions(
        &self,
        tenant: &TenantId,
        after_key: Option<&str>,
        rows_max: u32,
    ) -> Result<Vec<DefinitionRow>> {
        self.read(&sql::DEFINITIONS, json!({ "tenant": tenant, "after": after_key, "rows_max": rows_max }))
            .await
    }

    async fn instances(
        &self,
        tenant: &TenantId,
        filter: &InstanceFilter,
        page: &PageRequest,
    ) -> Result<Vec<Instance>> {
        let argument = paged(
            page,
            json!({
                "tenant": tenant, "workflow_key": filter.workflow_key, "status": filter.status,
                "business_key": filter.business_key,
            }),
        );
        self.read(&sql::INSTANCES, argument).await
    }

    async fn tasks(&self, tenant: &TenantId, filter: &TaskFilter, page: &PageRequest) -> Result<Vec<Task>> {
        let argument = paged(
            page,
            json!({
                "tenant": tenant, "instance_id": filter.instance_id, "status": filter.status,
                "task_type": filter.task_type,
            }),
        );
        self.read(&sql::TASKS, argument).await
    }

    async fn incidents(
        &self,
        tenant: &TenantId,
        instance: Option<InstanceId>,
        open_only: bool,
        page: &PageRequest,
    ) -> Result<Vec<Incident>> {
        let argument = json!({ "tenant": tenant, "instance_id": instance, "open_only": open_only });
        self.read(&sql::INCIDENTS, paged(page, argument)).await
    }

    async fn timers(&self, tenant: &TenantId, instance: InstanceId) -> Result<Vec<Timer>> {
        self.read(&sql::TIMERS, json!({ "tenant": tenant, "instance_id": instance })).await
    }

    async fn timer(&self, tenant: &TenantId, id: TimerId) -> Result<Option<Timer>> {
        self.read_one(&sql::TIMER, json!({ "tenant": tenant, "id": id })).await
    }

    async fn timer_list(
        &self,
        tenant: &TenantId,
        filter: &TimerFilter,
        page: &PageRequest,
    ) -> Result<Vec<Timer>> {
        let argument =
            json!({ "tenant": tenant, "instance_id": filter.instance_id, "triggered": filter.triggered });
        self.read(&sql::TIMER_LIST, paged(page, argument)).await
    }

    async fn journal(
        &self,
        tenant: &TenantId,
        instance: InstanceId,
        page: &PageRequest,
    ) -> Result<Vec<JournalEntry>> {
        let argument = paged(page, json!({ "tenant": tenant, "instance_id": instance }));
        super::pages::lines_after(self.read(&sql::JOURNAL, argument).await?, page)
    }

    async fn blobs(&self, tenant: &TenantId, instance: InstanceId, hashes: &[Digest]) -> Result<Vec<Blob>> {
        self.read(&sql::BLOBS, json!({ "tenant": tenant, "instance_id": instance, "hashes": hashes })).await
    }

    async fn outbox(&self, tenant: &TenantId, page: &PageRequest) -> Result<Vec<OutboxItem>> {
        self.read(&sql::OUTBOX, paged(page, json!({ "tenant": tenant }))).await
    }

    async fn token(&self, id: TokenId) -> Result<Option<Token>> {
        self.read_one(&sql::TOKEN, json!({ "id": id })).await
    }

    async fn tokens(&self, tenant: &TenantId) -> Result<Vec<Token>> {
        self.read(&sql::TOKENS, json!({ "tenant": tenant })).await
    }

    async fn has_tokens(&self) -> Result<bool> {
        Ok(self.read_one(&sql::HAS_TOKENS, json!({})).await?.unwrap_or_default())
    }

    async fn plugins(&self) -> Result<Vec<StoredPlugin>> {
        self.read(&sql::PLUGINS, json!({})).await
    }

    async fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        let text: Option<String> = self.read_one(&sql::COMPONENT, json!({ "digest": digest })).await?;
        let decode = |text: String| base64::engine::general_purpose::STANDARD.decode(text);
        text.map(decode)
            .transpose()
            .map_err(|error| StoreError::Broken(format!("component {digest}: {error}")))
    }

    async fn task_counts(&self) -> Result<Vec<TaskCount>> {
        self.read(&sql::TASK_COUNTS, json!({})).await
    }

    async fn ended_before(
        &self,
        before: Timestamp,
        journal_only: bool,
        rows_max: u32,
    ) -> Result<Vec<EndedInstance>> {
        let argument = json!({ "before": before, "journal_only": journal_only, "rows_max": rows_max });
        self.read(&sql::ENDED_BEFORE, argument).await
    }

    async fn ping(&self) -> Result<()> {
        self.read::<bool>(&sql::PING, json!({})).await.map(drop)
    }

    async fn close(&self) {
        self.driver.close().await;
    }
}
