//! A step's configuration and input, from its definition and what the instance knows so far.

use std::collections::HashMap;

use serde_json::Value;

use super::definition::template::{self, Scope};
use super::draft::Draft;
use super::{Engine, Error, deadline};
use crate::domain::definition::Step;
use crate::domain::json::canonical;
use crate::domain::step::{StepExecution, StepStatus};
use crate::domain::transition::Failure;
use crate::domain::{Digest, Timestamp};

/// What a step begins with.
pub(super) struct Configured {
    /// The component that serves its type; none if there is none here.
    pub(super) digest: Option<Digest>,
    /// The resolved configuration, canonical JSON text.
    pub(super) config: String,
    /// Outputs of the steps before it.
    pub(super) input: Value,
    /// When it must have ended.
    pub(super) deadline: Option<Timestamp>,
}

/// Resolves a step's templates. The inner error is the step's: it fails with it.
pub(super) async fn run(
    engine: &Engine,
    draft: &mut Draft,
    definition: &Step,
) -> Result<Result<Configured, Failure>, Error> {
    let wanted: Vec<String> = definition.references.iter().chain(&definition.depends_on).cloned().collect();
    let until = definition.until.iter().cloned();
    draft.ensure(&*engine.parts.store, &wanted.iter().cloned().chain(until).collect::<Vec<_>>()).await?;
    let outputs = collect(&wanted, |id| draft.step(id).and_then(output));
    let errors = collect(&wanted, |id| {
        let error = draft.step(id).and_then(|step| step.error.as_ref());
        error.and_then(|error| serde_json::to_value(error).ok())
    });
    let markers = markers(engine, draft, definition);
    let instance = &draft.instance;
    let callback = draft.step(&definition.id).map(|step| template::Callback {
        correlation_id: step.id.to_string(),
        token: engine.parts.keyring.callback_token(&step.tenant, step.id),
    });
    let scope = Scope {
        context: &instance.context,
        trigger: &instance.trigger,
        variables: &draft.workflow.variables,
        execution: &template::execution(instance, callback.as_ref()),
        outputs: &outputs,
        errors: &errors,
        secrets: &markers,
    };
    let config = match template::resolve(&definition.config, &scope, engine.parts.limits.template_bytes_max) {
        Ok(config) => config,
        Err(error) => {
            return Ok(Err(Failure::new(error.code(), format!("step '{}': {error}", definition.id))));
        }
    };
    let deadline = match definition.deadline.as_ref().map(|deadline| {
        let after = template::resolve(&deadline.after, &scope, engine.parts.limits.template_bytes_max);
        after.map_err(|error| error.to_string()).and_then(|after| deadline::due(&after, draft.now))
    }) {
        Some(Err(why)) => {
            return Ok(Err(Failure::new("config_invalid", format!("step '{}': {why}", definition.id))));
        }
        due => due.and_then(Result::ok),
    };
    let serving = engine.parts.plugins.step_type(&definition.step_type);
    if let Some(serving) = &serving {
        let flaws = engine.parts.plugins.check_config(&serving.digest, &config);
        if let Some((pointer, sentence)) = flaws.first() {
            let message = format!("step '{}': config{pointer}: {sentence}", definition.id);
            return Ok(Err(Failure::new("config_invalid", message)));
        }
    }
    let before = definition.depends_on.iter().filter_map(|id| Some((id.clone(), outputs.get(id)?.clone())));
    let input = Value::Object(before.collect());
    let (digest, config) = (serving.map(|serving| serving.digest), canonical(&config));
    Ok(Ok(Configured { digest, config, input, deadline }))
}

/// What stands for the secrets that the definition names: only its text can bring one in.
fn markers(engine: &Engine, draft: &Draft, definition: &Step) -> Value {
    let Some(step) = draft.step(&definition.id).filter(|_| !definition.secrets.is_empty()) else {
        return Value::Null;
    };
    let marker = |name: &String| {
        let marker = engine.parts.keyring.marker(&step.tenant, step.id, name);
        (name.clone(), Value::String(marker))
    };
    Value::Object(definition.secrets.iter().map(marker).collect())
}

fn collect(ids: &[String], value: impl Fn(&str) -> Option<Value>) -> HashMap<String, Value> {
    ids.iter().filter_map(|id| Some((id.clone(), value(id)?))).collect()
}

/// A step's output. No database tells null from nothing: a step that ended well without one has null.
fn output(step: &StepExecution) -> Option<Value> {
    step.output.clone().or_else(|| (step.status == StepStatus::Completed).then_some(Value::Null))
}
