//! `until`: a step that ends with another one. It is told of that one's end in the commit that ends it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::draft::Draft;
use super::{Engine, Error, deliver};
use crate::domain::definition::Step;
use crate::domain::event::Event;
use crate::domain::step::StepExecution;
use crate::domain::{InstanceId, TenantId};

/// The custom event of a step that has ended, sent to steps whose descriptor's `accepts` lists it.
pub(super) const ENDED: &str = "step-ended";

impl Engine {
    /// Whether a step of an instance has ended, or will never begin.
    pub async fn step_has_ended(
        &self,
        tenant: &TenantId,
        instance: InstanceId,
        step_id: &str,
    ) -> Result<bool, Error> {
        let steps = self.parts.store.steps(tenant, instance, Some(&[step_id.to_owned()])).await?;
        Ok(steps.iter().any(|step| step.status.ended()))
    }
}

/// Notes who is to be told that a step has ended.
pub(super) fn ended(draft: &mut Draft, definition: &Arc<Step>) {
    let told = definition.watchers.iter().map(|watcher| (watcher.clone(), definition.id.clone()));
    draft.watchers.extend(told);
}

/// Tells a step that the one that it waits for has ended. One that has not begun is told when it does.
pub(super) async fn tell(
    engine: &Engine,
    draft: &mut Draft,
    watcher: &str,
    ended: &str,
) -> Result<(), Error> {
    draft.ensure(&*engine.parts.store, &[watcher.to_owned(), ended.to_owned()]).await?;
    let status = draft.step(ended).map(|step| step.status.label());
    let Some(execution) = draft.step(watcher).filter(|step| step.status.open()).map(|step| step.id) else {
        return Ok(());
    };
    let step_type = draft.workflow.step(watcher).map(|step| step.step_type.clone());
    let serving = step_type.and_then(|step_type| engine.parts.plugins.step_type(&step_type));
    if !serving.is_some_and(|serving| serving.descriptor.accepts.iter().any(|kind| kind == ENDED)) {
        return Ok(());
    }
    let payload = json!({ "step": ended, "status": status });
    let event = Event::Custom { custom_kind: ENDED.into(), payload };
    deliver::to_step(engine, draft, watcher, execution, &event, None).await
}

/// What a step is told of the one that it waits for, as it begins. That one must have been ensured.
pub(super) fn known(draft: &Draft, definition: &Step) -> Option<Value> {
    let until = definition.until.as_ref()?;
    let over = |step: &StepExecution| step.status.ended();
    Some(json!({ "step": until, "ended": draft.step(until).is_some_and(over) }))
}
