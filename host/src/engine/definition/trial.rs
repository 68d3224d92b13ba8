//! Trials: plugins that know more of their configuration than a schema can say are asked when it is deployed.
//!
//! A plugin is a pure function, so `start` can be called as often as one likes. Only what a descriptor offers with
//! `tried_at_deploy` is called; what a template will bring is null, and a fault is left to the step's own start.

use serde_json::{Value, json};

use super::Document;
use super::report::{Field, Report};
use crate::domain::definition::{Step, Template, Workflow};
use crate::domain::effect::Effect;
use crate::domain::json::canonical;
use crate::domain::plugin::{CallContext, StepCall, StepVerb};
use crate::domain::wait::{Listener, WAIT_EFFECT, WaitNote};
use crate::domain::{TenantId, Timestamp};
use crate::engine::Error;
use crate::engine::port::Plugins;

/// Steps of one workflow that are tried; the rest are checked when they start.
const TRIALS_MAX: usize = 200;

/// Tries the configurations of a workflow's steps; the events that they will wait for. All refusals are reported at
/// once.
pub async fn trials(
    document: &Document,
    workflow: &Workflow,
    tenant: &TenantId,
    now: Timestamp,
    plugins: &dyn Plugins,
) -> Result<Vec<Listener>, Error> {
    let mut listeners = Vec::new();
    let mut report = Report::new(Some(document.spots()));
    let mut left = TRIALS_MAX;
    for (at, step) in workflow.steps.iter().enumerate() {
        let Some(serving) = plugins.step_type(&step.step_type) else { continue };
        if !serving.descriptor.tried_at_deploy || left == 0 {
            continue;
        }
        left -= 1;
        let call = call(workflow, step, tenant, now);
        let Ok(answer) = plugins.call_step(&serving.digest, &call).await else { continue };
        match answer.result {
            Ok(transition) => listeners.extend(transition.effects.iter().flat_map(topics)),
            Err(refusal) if refusal.code == "invalid_config" => {
                let (field, sentence) = place(document.value(), at, &refusal.message);
                report.add(&field, sentence);
            }
            Err(_) => {}
        }
    }
    report.finish(listeners)
}

/// The topics that a step will listen to, as far as they are known: hosts follow them from the deployment on.
fn topics(effect: &Effect) -> Vec<Listener> {
    let Effect::Custom { custom_kind, payload, .. } = effect else { return Vec::new() };
    if custom_kind != WAIT_EFFECT {
        return Vec::new();
    }
    let note = serde_json::from_value::<WaitNote>(payload.clone());
    note.map(|note| note.listeners).unwrap_or_default()
}

fn call(workflow: &Workflow, step: &Step, tenant: &TenantId, now: Timestamp) -> StepCall {
    let context = CallContext {
        tenant: tenant.clone(),
        workflow: workflow.key.clone(),
        instance: String::new(),
        step: step.id.clone(),
        attempt: 1,
        seq: 0,
        now,
        seed: 0,
        config: canonical(&known(&step.config)),
        extra: match &step.until {
            Some(until) => json!({ "trial": true, "until": { "step": until, "ended": false } }),
            None => json!({ "trial": true }),
        },
    };
    StepCall { context, verb: StepVerb::Start { input: json!({}) } }
}

/// A configuration as far as it is known: null where a template stands.
pub(super) fn known(template: &Template) -> Value {
    match template {
        Template::Literal(value) => value.clone(),
        Template::Whole(_) | Template::Text(_) => Value::Null,
        Template::Array(items) => Value::Array(items.iter().map(known).collect()),
        Template::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), known(member))).collect()
        }
    }
}

/// A refusal that begins with the name of a field is about that field.
fn place(document: &Value, step: usize, sentence: &str) -> (Field, String) {
    let list = if document.get("steps").is_some() { "steps" } else { "nodes" };
    let written = document.get(list).and_then(|steps| steps.get(step));
    let name = if written.is_some_and(|step| step.get("data").is_some()) { "data" } else { "config" };
    let config = Field::root().key(list).index(step).key(name);
    let written = written.and_then(|step| step.get(name));
    let there = |part: &str| {
        part.split('.').try_fold(written?, |value, member| value.get(member)).map(|_| part.to_owned())
    };
    match sentence.split_once(": ").and_then(|(part, sentence)| Some((there(part)?, sentence))) {
        Some((part, sentence)) => {
            (part.split('.').fold(config, |field, part| field.key(part)), sentence.to_owned())
        }
        None => (config, sentence.to_owned()),
    }
}
