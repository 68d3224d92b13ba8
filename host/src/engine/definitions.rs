//! Deployed workflows: compiled once, kept for the instances that follow them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::port::write::SchedulesKept;
use super::port::{Guard, Hint, Verdict, Write, WriteSet};
use super::recent::lock;
use super::{Deployed, Engine, Error, Parts, definition, events, schedule};
use crate::domain::definition::{DefinitionRow, Workflow};
use crate::domain::json::canonical;
use crate::domain::wait::{Listener, TopicFields};
use crate::domain::{Digest, TenantId};

/// Compiled workflows kept at once.
const COMPILED_MAX: usize = 1_000;

type Name = (TenantId, String, i32);

/// The cache of compiled workflows. A version never changes, so an entry is never stale; which one is the newest does.
#[derive(Default)]
pub(super) struct Definitions {
    compiled: Mutex<HashMap<Name, Arc<Workflow>>>,
    newest: Mutex<HashMap<(TenantId, String), i32>>,
}

/// The workflow to start.
pub(super) struct Chosen {
    pub(super) workflow: Arc<Workflow>,
    /// Set if it is the newest only as far as this host remembers: the commit must confirm it.
    pub(super) guard: Option<Guard>,
}

impl Definitions {
    /// A version of a workflow, compiled.
    pub(super) async fn get(
        &self,
        parts: &Parts,
        tenant: &TenantId,
        key: &str,
        version: i32,
    ) -> Result<Arc<Workflow>, Error> {
        let name = (tenant.clone(), key.to_owned(), version);
        if let Some(workflow) = lock(&self.compiled).get(&name) {
            return Ok(workflow.clone());
        }
        let row = parts
            .store
            .definition(tenant, key, Some(version))
            .await?
            .ok_or_else(|| unknown(key, Some(version)))?;
        self.compile(&row)
    }

    /// The version asked for, or the newest as far as this host remembers, compiled.
    pub(super) async fn choose(
        &self,
        parts: &Parts,
        tenant: &TenantId,
        key: &str,
        version: Option<i32>,
    ) -> Result<Chosen, Error> {
        if let Some(version) = version {
            let workflow = self.get(parts, tenant, key, version).await?;
            return Ok(Chosen { workflow, guard: None });
        }
        let name = (tenant.clone(), key.to_owned());
        let remembered = lock(&self.newest).get(&name).copied();
        if let Some(version) = remembered {
            let workflow = self.get(parts, tenant, key, version).await?;
            let guard = Guard::NewestVersion { tenant: name.0, key: name.1, version };
            return Ok(Chosen { workflow, guard: Some(guard) });
        }
        let row = parts.store.definition(tenant, key, None).await?.ok_or_else(|| unknown(key, None))?;
        let workflow = self.compile(&row)?;
        let mut newest = lock(&self.newest);
        if newest.len() >= COMPILED_MAX {
            newest.clear();
        }
        newest.insert(name, row.version);
        Ok(Chosen { workflow, guard: None })
    }

    /// What was remembered is no longer so.
    pub(super) fn forget_newest(&self, tenant: &TenantId, key: &str) {
        lock(&self.newest).remove(&(tenant.clone(), key.to_owned()));
    }

    fn compile(&self, row: &DefinitionRow) -> Result<Arc<Workflow>, Error> {
        let name = (row.tenant.clone(), row.key.clone(), row.version);
        if let Some(workflow) = lock(&self.compiled).get(&name) {
            return Ok(workflow.clone());
        }
        let workflow = Arc::new(definition::recompile(&row.document, &row.key, row.version)?);
        let mut compiled = lock(&self.compiled);
        if compiled.len() >= COMPILED_MAX {
            compiled.clear();
        }
        compiled.insert(name, workflow.clone());
        Ok(workflow)
    }
}

impl Engine {
    /// A version of a workflow.
    pub async fn workflow(&self, tenant: &TenantId, key: &str, version: i32) -> Result<Arc<Workflow>, Error> {
        self.definitions.get(&self.parts, tenant, key, version).await
    }

    /// Deploys a YAML or JSON document; `key` wins over the document's own. The same document again is no new version.
    pub async fn deploy(
        &self,
        tenant: &TenantId,
        key: Option<&str>,
        source: &str,
    ) -> Result<Deployed, Error> {
        self.deploy_or_check(tenant, key, source, false).await
    }

    /// What deploying a document would say; nothing is written.
    pub async fn check_deployment(
        &self,
        tenant: &TenantId,
        key: Option<&str>,
        source: &str,
    ) -> Result<Deployed, Error> {
        self.deploy_or_check(tenant, key, source, true).await
    }

    async fn deploy_or_check(
        &self,
        tenant: &TenantId,
        key: Option<&str>,
        source: &str,
        only_check: bool,
    ) -> Result<Deployed, Error> {
        let document = definition::read(source, &self.parts.limits)?;
        let key = definition::choose_key(&document, key)?;
        let digest = Digest::of(canonical(document.value()).as_bytes());
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let latest = self.parts.store.definition(tenant, &key, None).await?;
            let version = latest.as_ref().map_or(0, |row| row.version);
            let workflow = definition::compile(
                &document,
                &key,
                version + 1,
                self.parts.limits.definition_steps_max,
                &*self.parts.plugins,
            )?;
            if let Some(row) = latest.filter(|row| row.digest == digest) {
                return Ok(Deployed { definition: row, created: false, triggers: workflow.triggers });
            }
            let now = self.parts.clock.now();
            definition::check_triggers(&document, &workflow, now)?;
            let listeners =
                definition::trials(&document, &workflow, tenant, now, &*self.parts.plugins).await?;
            let row = DefinitionRow {
                tenant: tenant.clone(),
                key: key.clone(),
                version: version + 1,
                name: workflow.name.clone(),
                digest: digest.clone(),
                source: source.to_owned(),
                document: document.value().clone(),
                created_at: now,
            };
            if only_check {
                return Ok(Deployed { definition: row, created: true, triggers: workflow.triggers });
            }
            let (set, topics) = deployment(&row, &workflow, &listeners, version);
            match self.committer.commit(set).await? {
                Verdict::Applied => {
                    self.topics.learn(topics.iter());
                    return Ok(Deployed { definition: row, created: true, triggers: workflow.triggers });
                }
                Verdict::Refused(reason) => return Err(Error::unprocessable("data_refused", reason)),
                Verdict::Conflict | Verdict::Started(_) => {}
            }
        }
        Err(Error::Busy {
            code: "workflow_busy",
            message: format!("workflow '{key}' keeps changing; try again"),
        })
    }
}

/// A new version, and what starts it in place of what started the version before.
fn deployment(
    row: &DefinitionRow,
    workflow: &Workflow,
    listeners: &[Listener],
    before: i32,
) -> (WriteSet, Vec<TopicFields>) {
    let (tenant, key) = (row.tenant.clone(), row.key.clone());
    let schedules = schedule::of_workflow(&tenant, workflow, row.created_at);
    let guard = Guard::DefinitionVersion { tenant: tenant.clone(), key: key.clone(), version: before };
    let mut writes = vec![Write::InsertDefinition(row.clone())];
    if before > 0 || !schedules.is_empty() {
        let trigger_ids = schedules.iter().map(|schedule| schedule.trigger_id.clone()).collect();
        writes.push(Write::KeepSchedules(SchedulesKept { tenant, workflow_key: key, trigger_ids }));
    }
    let mut hints: Vec<Hint> =
        schedules.iter().filter_map(|schedule| Some(Hint::Due { at: schedule.due_at? })).collect();
    writes.extend(schedules.into_iter().map(Write::UpsertSchedule));
    let (events, topics) = events::of_workflow(&row.tenant, workflow, listeners, before, row.created_at);
    if !events.is_empty() {
        hints.push(Hint::Topics);
    }
    writes.extend(events);
    (WriteSet { guards: vec![guard], writes, hints }, topics)
}

fn unknown(key: &str, version: Option<i32>) -> Error {
    let version = version.map(|version| format!(" version {version}")).unwrap_or_default();
    Error::not_found("workflow_not_found", format!("there is no workflow '{key}'{version}; deploy it first"))
}
