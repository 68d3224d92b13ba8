//! An operator completes a wait that failed, by hand, or lets its step begin again.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::transition::Outcome;
use crate::domain::wait::{WaitState, WaitStatus};
use crate::domain::{StepExecutionId, TenantId};
use crate::engine::draft::Draft;
use crate::engine::mailbox::Taken;
use crate::engine::port::Write;
use crate::engine::signal::Signal;
use crate::engine::{Engine, Error, advance, decide, mapping, revive};

/// What an operator wants of a wait that failed.
#[derive(Clone, Debug)]
pub(crate) struct Mending {
    wait: WaitState,
    /// The step's output; without one, the step begins again.
    output: Option<Value>,
}

impl Engine {
    /// Completes a wait that failed with an output, or retries its step without one; the wait as it is now.
    pub async fn mend_wait(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: StepExecutionId,
        output: Option<Value>,
    ) -> Result<WaitState, Error> {
        if let Some(output) = &output {
            self.check_payload("output", output)?;
        }
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let wait = self.dead_wait(tenant, id).await?;
            let instance = wait.execution_id;
            let mending = Mending { wait, output: output.clone() };
            if !matches!(self.send(tenant, instance, Signal::Mended(Box::new(mending))).await?, Taken::Stale)
            {
                return self.parts.store.wait_state(tenant, id).await?.ok_or_else(|| no_wait(id));
            }
        }
        Err(Error::Busy { code: "wait_busy", message: format!("wait {id} keeps changing; try again") })
    }

    async fn dead_wait(&self, tenant: &TenantId, id: StepExecutionId) -> Result<WaitState, Error> {
        let wait = self.parts.store.wait_state(tenant, id).await?.ok_or_else(|| no_wait(id))?;
        if wait.status.dead() {
            return Ok(wait);
        }
        let message = format!("wait {id} is {}; only one that failed can be mended", wait.status.label());
        Err(Error::conflict("wait_not_dead", message))
    }
}

/// Takes the operator's wish into the draft. The outer error ends the fold; the inner one is the operator's.
pub(in crate::engine) async fn apply(
    engine: &Engine,
    draft: &mut Draft,
    mending: &Mending,
) -> Result<Result<Taken, Error>, Error> {
    draft.ensure_all(&*engine.parts.store).await?;
    let wait = &mending.wait;
    let what = format!("wait {}", wait.id);
    let definition = match revive::failed_step(draft, &wait.node_id, wait.id, &what) {
        Ok(definition) => definition,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (status, note) = match &mending.output {
        Some(_) => (
            WaitStatus::Completed,
            format!("goes on: the wait of step '{}' was completed by hand", wait.node_id),
        ),
        None => (WaitStatus::Retried, format!("goes on: the wait of step '{}' is retried", wait.node_id)),
    };
    let mapped = match &mending.output {
        Some(output) => {
            let outcome = Outcome::Completed { output: output.clone() };
            match mapping::run(engine, draft, &definition, &outcome).await {
                Ok(mapped) => mapped,
                Err(fault) => return Ok(Err(Error::unprocessable("mapping_failed", fault.message))),
            }
        }
        None => None,
    };
    // The last that can be refused: from here on the draft changes.
    let output = match mending.output.clone().map(|output| mapping::merge(draft, mapped, output)).transpose()
    {
        Ok(output) => output,
        Err(failure) => return Ok(Err(Error::unprocessable("mapping_failed", failure.message))),
    };
    let cancelled = revive::instance(draft, &definition, note);
    draft.writes.push(Write::UpsertWait(WaitState {
        status,
        resumed_at: Some(draft.now),
        resumed_by: Some(draft.node_id.to_string()),
        updated_at: draft.now,
        ..wait.clone()
    }));
    match output {
        Some(output) => {
            let step = draft.step_mut(&definition);
            (step.error, step.ended_at) = (None, None);
            draft.set_status(&definition, crate::domain::step::StepStatus::Running);
            advance::complete_step(draft, &definition, output);
        }
        None => {
            draft.begin_again(&definition);
            decide::start(engine, draft, &definition).await?;
        }
    }
    revive::branches(engine, draft, cancelled).await?;
    Ok(Ok(Taken::Done))
}

fn no_wait(id: StepExecutionId) -> Error {
    Error::not_found(
        "wait_not_found",
        format!("there is no wait {id}; it is gone with its instance, or by its age"),
    )
}
