//! A step's output is shaped by a mapper plugin before it becomes the step's output.

use serde_json::Value;

use super::draft::Draft;
use super::port::Answer;
use super::{Engine, decide, hold, persist, record};
use crate::domain::Digest;
use crate::domain::definition::Step;
use crate::domain::json::canonical_bytes;
use crate::domain::plugin::{Fault, MapCall};
use crate::domain::transition::{Failure, Outcome};

/// What a mapper made of an output.
pub(super) struct Mapped {
    digest: Digest,
    call: MapCall,
    answer: Answer<Value>,
    into_context: bool,
    context_bytes_max: usize,
}

impl Mapped {
    /// Journals the call, after the one of the step that it belongs to.
    pub(super) fn record(&self, draft: &mut Draft, definition: &Step) {
        let shown = match &self.answer.result {
            Ok(value) => value.clone(),
            Err(refusal) => serde_json::json!({ "refusal": refusal }),
        };
        record::transform(draft, definition, &self.digest, &self.call, &shown, self.answer.usage);
    }
}

/// Maps the output of a step that has completed, if it declares a mapping. A fault holds the step.
pub(super) async fn run(
    engine: &Engine,
    draft: &Draft,
    definition: &Step,
    outcome: &Outcome,
) -> Result<Option<Mapped>, Fault> {
    let (Some(mapping), Outcome::Completed { output }) = (&definition.mapping, outcome) else {
        return Ok(None);
    };
    let Some(mapper) = engine.parts.plugins.mapper(&mapping.mapper) else {
        return Err(hold::missing_type(&engine.parts, &mapping.mapper));
    };
    let mut context = decide::context(draft, definition);
    context.config.clone_from(&mapping.config);
    let call = MapCall { context, input: output.clone() };
    let answer = persist::call(|| engine.parts.plugins.transform(&mapper.digest, &call)).await?;
    Ok(Some(Mapped {
        digest: mapper.digest,
        call,
        answer,
        into_context: mapping.into_context,
        context_bytes_max: engine.parts.limits.context_bytes_max,
    }))
}

/// The step's output; mapped names also go into the instance's context.
pub(super) fn merge(draft: &mut Draft, mapped: Option<Mapped>, raw: Value) -> Result<Value, Failure> {
    let Some(mapped) = mapped else { return Ok(raw) };
    let output = mapped.answer.result.map_err(|refusal| {
        Failure::new("mapping_failed", format!("the output cannot be mapped: {refusal}"))
    })?;
    if let (true, Value::Object(names)) = (mapped.into_context, &output) {
        let mut context = draft.instance.context.clone();
        if let Value::Object(members) = &mut context {
            members.extend(names.clone());
        }
        let bytes = canonical_bytes(&context);
        if bytes > mapped.context_bytes_max {
            return Err(Failure::new(
                "context_too_large",
                format!(
                    "with this output the context would have {bytes} bytes; the limit is {}",
                    mapped.context_bytes_max
                ),
            ));
        }
        if context != draft.instance.context {
            draft.instance.context = context;
            draft.context_changed = true;
        }
    }
    Ok(output)
}
