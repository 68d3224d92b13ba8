//! An instance begins.

use std::sync::Arc;

use serde_json::Value;

use super::definitions::Chosen;
use super::draft::Draft;
use super::port::write::StartKey;
use super::port::{Guard, Verdict, Write, WriteSet};
use super::recent::Snapshot;
use super::{Engine, Error, StartRequest, Started, advance, deadline, record};
use crate::domain::InstanceId;
use crate::domain::instance::{Instance, InstanceStatus};
use crate::domain::json::canonical_bytes;
use crate::domain::step::StepStatus;

/// The longest business key and idempotency key.
const KEY_BYTES_MAX: usize = 255;

impl Engine {
    /// Starts an instance: its first steps are decided and committed with it.
    ///
    /// The work goes on if the caller does not: a client that hangs up neither loses nor doubles a start.
    pub async fn start(self: &Arc<Self>, request: StartRequest) -> Result<Started, Error> {
        // Who hangs up while they wait for a place have started nothing.
        let place = self.crowd.enter(&request.tenant).await?;
        let engine = self.clone();
        let span = tracing::Span::current();
        let work = async move {
            let mut faulty = false;
            let started = engine.start_now(request, &mut faulty).await;
            place.leave(faulty);
            started
        };
        let work = tracing::Instrument::instrument(work, span);
        self.work.spawn(work).await.unwrap_or_else(|_| {
            Err(Error::Busy { code: "start_interrupted", message: "the host is stopping; try again".into() })
        })
    }

    /// `faulty` says afterwards whether a plugin went wrong.
    async fn start_now(&self, request: StartRequest, faulty: &mut bool) -> Result<Started, Error> {
        self.check_start(&request)?;
        if let Some(key) = &request.idempotency_key
            && let Some(id) = self.parts.store.start_key(&request.tenant, &request.workflow_key, key).await?
        {
            return Ok(Started { id, created: false });
        }
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let (set, snapshot) = self.begin(&request, request.context.clone()).await?;
            let id = snapshot.instance.id;
            *faulty |= snapshot.instance.open_incidents > 0;
            match self.committer.commit(set).await? {
                Verdict::Applied => {
                    self.recent.keep_instance(snapshot);
                    return Ok(Started { id, created: true });
                }
                Verdict::Started(id) => return Ok(Started { id, created: false }),
                // A newer version was deployed meanwhile.
                Verdict::Conflict => self.definitions.forget_newest(&request.tenant, &request.workflow_key),
                Verdict::Refused(reason) => {
                    let message = format!("the database cannot store this: {reason}");
                    return Err(Error::unprocessable("data_refused", message));
                }
            }
        }
        let message = format!("workflow '{}' keeps changing; try again", request.workflow_key);
        Err(Error::Busy { code: "start_conflict", message })
    }

    /// A new instance whose first steps are decided, not committed yet.
    pub(super) async fn begin(
        &self,
        request: &StartRequest,
        trigger: Value,
    ) -> Result<(WriteSet, Snapshot), Error> {
        let Chosen { workflow, guard } = self
            .definitions
            .choose(&self.parts, &request.tenant, &request.workflow_key, request.version)
            .await?;
        let now = self.parts.clock.now();
        let instance = Instance {
            id: InstanceId::new(),
            tenant: request.tenant.clone(),
            workflow_key: workflow.key.clone(),
            workflow_version: workflow.version,
            business_key: request.business_key.clone(),
            status: InstanceStatus::Running,
            version: 0,
            open_steps: 0,
            open_incidents: 0,
            trigger,
            context: request.context.clone(),
            error: None,
            traceparent: request.traceparent.clone(),
            created_at: now,
            updated_at: now,
            ended_at: None,
            turns: None,
        };
        let mut draft = Draft::new(workflow.clone(), instance);
        draft.guards.extend(guard);
        record::instance_start(&mut draft);
        draft.ready = workflow.roots().map(|step| step.id.clone()).collect();
        advance::run(self, &mut draft).await?;
        refuse_unconfigurable(&draft)?;
        draft.settle();
        deadline::of_instance(&mut draft, self.parts.limits.template_bytes_max)?;
        record::instance_end(&mut draft, InstanceStatus::Running);
        if let Some(key) = &request.idempotency_key {
            claim_key(&mut draft, key.clone());
        }
        Ok(draft.into_write_set())
    }

    pub(super) fn check_start(&self, request: &StartRequest) -> Result<(), Error> {
        if !request.context.is_object() {
            return Err(Error::invalid("invalid_request", "`context` must be a JSON object"));
        }
        let bytes = canonical_bytes(&request.context);
        let max = self.parts.limits.context_bytes_max;
        if bytes > max {
            let message = format!(
                "the context has {bytes} bytes; the limit is {max}. Store big data elsewhere and pass a reference"
            );
            return Err(Error::too_large("context_too_large", message));
        }
        for (name, key) in
            [("businessKey", &request.business_key), ("idempotency key", &request.idempotency_key)]
        {
            if key
                .as_ref()
                .is_some_and(|key| key.is_empty() || key.len() > KEY_BYTES_MAX || key.contains('\0'))
            {
                let message = format!("the {name} must have 1 to {KEY_BYTES_MAX} bytes");
                return Err(Error::invalid("invalid_request", message));
            }
        }
        Ok(())
    }
}

/// A first step that cannot even be configured is the caller's mistake: nothing is written.
fn refuse_unconfigurable(draft: &Draft) -> Result<(), Error> {
    for definition in draft.workflow.roots() {
        let Some(step) = draft.step(&definition.id) else { continue };
        if let (StepStatus::Failed, None, Some(error)) = (step.status, &step.plugin_digest, &step.error) {
            let code = match error.code.as_str() {
                "template_path_missing" => "template_path_missing",
                "template_too_large" => "template_too_large",
                "config_invalid" => "config_invalid",
                _ => "start_refused",
            };
            return Err(Error::unprocessable(code, format!("{}; nothing was started", error.message)));
        }
    }
    Ok(())
}

fn claim_key(draft: &mut Draft, key: String) {
    let instance = &draft.instance;
    let (tenant, workflow_key) = (instance.tenant.clone(), instance.workflow_key.clone());
    draft.guards.push(Guard::StartKey {
        tenant: tenant.clone(),
        workflow_key: workflow_key.clone(),
        key: key.clone(),
    });
    draft.writes.push(Write::InsertStartKey(StartKey {
        tenant,
        workflow_key,
        key,
        instance_id: instance.id,
        created_at: draft.now,
    }));
}
