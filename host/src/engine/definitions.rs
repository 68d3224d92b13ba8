//! Deployed workflows: compiled once, kept for the instances that follow them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::definition;
use super::port::{Guard, Verdict, Write, WriteSet};
use super::{Deployed, Engine, Error, Parts};
use crate::domain::definition::{DefinitionRow, Workflow};
use crate::domain::json::canonical;
use crate::domain::{Digest, TenantId};

/// Compiled workflows kept at once.
const COMPILED_MAX: usize = 1_000;

type Name = (TenantId, String, i32);

/// The cache of compiled workflows. A version never changes, so an entry is never stale.
#[derive(Default)]
pub(super) struct Definitions {
    compiled: Mutex<HashMap<Name, Arc<Workflow>>>,
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
        if let Some(workflow) = self.compiled.lock().unwrap_or_else(PoisonError::into_inner).get(&name) {
            return Ok(workflow.clone());
        }
        let row = parts
            .store
            .definition(tenant, key, Some(version))
            .await?
            .ok_or_else(|| unknown(key, Some(version)))?;
        self.compile(&row)
    }

    /// The newest version of a workflow, or the one asked for, compiled.
    pub(super) async fn latest(
        &self,
        parts: &Parts,
        tenant: &TenantId,
        key: &str,
        version: Option<i32>,
    ) -> Result<Arc<Workflow>, Error> {
        if let Some(version) = version {
            return self.get(parts, tenant, key, version).await;
        }
        // Another host may have deployed a newer one: the database is asked each time.
        let row = parts.store.definition(tenant, key, None).await?.ok_or_else(|| unknown(key, None))?;
        self.compile(&row)
    }

    fn compile(&self, row: &DefinitionRow) -> Result<Arc<Workflow>, Error> {
        let name = (row.tenant.clone(), row.key.clone(), row.version);
        if let Some(workflow) = self.compiled.lock().unwrap_or_else(PoisonError::into_inner).get(&name) {
            return Ok(workflow.clone());
        }
        let workflow = Arc::new(definition::recompile(&row.document, &row.key, row.version)?);
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if compiled.len() >= COMPILED_MAX {
            compiled.clear();
        }
        compiled.insert(name, workflow.clone());
        Ok(workflow)
    }
}

impl Engine {
    /// Deploys a YAML or JSON document; `key` wins over the document's own. The same document again is no new version.
    pub async fn deploy(
        &self,
        tenant: &TenantId,
        key: Option<&str>,
        source: &str,
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
                return Ok(Deployed { definition: row, created: false });
            }
            let row = DefinitionRow {
                tenant: tenant.clone(),
                key: key.clone(),
                version: version + 1,
                name: workflow.name.clone(),
                digest: digest.clone(),
                source: source.to_owned(),
                document: document.value().clone(),
                created_at: self.parts.clock.now(),
            };
            let guard = Guard::DefinitionVersion { tenant: tenant.clone(), key: key.clone(), version };
            let writes = vec![Write::InsertDefinition(row.clone())];
            match self.committer.commit(WriteSet { guards: vec![guard], writes, hints: Vec::new() }).await? {
                Verdict::Applied => return Ok(Deployed { definition: row, created: true }),
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

fn unknown(key: &str, version: Option<i32>) -> Error {
    let version = version.map(|version| format!(" version {version}")).unwrap_or_default();
    Error::not_found("workflow_not_found", format!("there is no workflow '{key}'{version}; deploy it first"))
}
