//! Decisions: ask the plugin, then take in its answer, or hold the step if the plugin is at fault.
//!
//! Nothing of the draft changes until plugin and mapper have both answered: a fault leaves the step as it was.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::configure::{self, Configured};
use super::draft::Draft;
use super::ledger::Novelty;
use super::mapping::{self, Mapped};
use super::port::Answer;
use super::{Engine, Error, advance, apply, deadline, hold, ledger, persist, record, until};
use crate::domain::definition::Step;
use crate::domain::event::Event;
use crate::domain::plugin::{CallContext, Fault, Refusal, StepCall, StepVerb, Usage};
use crate::domain::step::StepStatus;
use crate::domain::transition::{Failure, Outcome, Transition};
use crate::domain::{Digest, EventId};

/// A step begins.
pub(super) async fn start(engine: &Engine, draft: &mut Draft, definition: &Arc<Step>) -> Result<(), Error> {
    let now = draft.now;
    {
        let step = draft.step_mut(definition);
        step.started_at = Some(now);
    }
    draft.set_status(definition, StepStatus::Running);
    let configured = match configure::run(engine, draft, definition).await? {
        Ok(configured) => configured,
        Err(failure) => {
            record::unconfigurable(draft, definition, &failure);
            advance::fail_step(draft, definition, failure);
            return Ok(());
        }
    };
    let Configured { digest, config, input, deadline } = configured;
    match digest {
        None => {
            let fault = hold::missing_type(&engine.parts, &definition.step_type);
            hold::step(draft, definition, &fault, None, None);
        }
        Some(digest) => {
            let step = draft.step_mut(definition);
            step.plugin_digest = Some(digest.clone());
            step.config = Some(config);
            call(engine, draft, definition, &digest, StepVerb::Start { input }, None).await?;
        }
    }
    if let Some(at) = deadline {
        deadline::of_step(draft, definition, at);
    }
    Ok(())
}

/// Something happened to a step that waits. `kept` is set if the event is in the inbox already.
pub(super) async fn on_event(
    engine: &Engine,
    draft: &mut Draft,
    definition: &Arc<Step>,
    event: &Event,
    kept: Option<EventId>,
) -> Result<(), Error> {
    let Some(step) = draft.step(&definition.id) else { return Ok(()) };
    let (Some(digest), Some(state)) = (step.plugin_digest.clone(), step.state.clone()) else { return Ok(()) };
    let verb = StepVerb::OnEvent { state, event: event.clone() };
    call(engine, draft, definition, &digest, verb, kept).await
}

async fn call(
    engine: &Engine,
    draft: &mut Draft,
    definition: &Arc<Step>,
    digest: &Digest,
    verb: StepVerb,
    kept: Option<EventId>,
) -> Result<(), Error> {
    let call = StepCall { context: context(draft, definition), verb };
    let event = match &call.verb {
        StepVerb::OnEvent { event, .. } => Some(event.clone()),
        StepVerb::Start { .. } => None,
    };
    let answer = match persist::call(|| engine.parts.plugins.call_step(digest, &call)).await {
        Ok(answer) => answer,
        Err(fault) => {
            record::fault(draft, definition, digest, &call, &fault);
            hold::step(draft, definition, &fault, event.as_ref(), kept);
            return Ok(());
        }
    };
    let Answer { result, usage } = answer;
    let transition = match result {
        Ok(transition) => transition,
        Err(refusal) => refused(draft, definition, &refusal),
    };
    let mapped = match mapping::run(engine, draft, definition, &transition.outcome).await {
        Ok(mapped) => mapped,
        Err(fault) => {
            record::fault(draft, definition, digest, &call, &fault);
            hold::step(draft, definition, &fault, event.as_ref(), kept);
            return Ok(());
        }
    };
    let noted = match check_effects(engine, draft, definition, &transition) {
        Ok(noted) => noted,
        Err(fault) => {
            record::fault(draft, definition, digest, &call, &fault);
            hold::step(draft, definition, &fault, event.as_ref(), kept);
            return Ok(());
        }
    };
    record::transition(draft, definition, digest, &call, &transition, usage);
    if let Some(mapped) = &mapped {
        mapped.record(draft, definition);
    }
    draft.unprioritized = engine.unprioritized.load(Ordering::Relaxed);
    draft.node_id = Arc::clone(&engine.parts.node_id);
    draft.topics = engine.topics.now();
    take_in(draft, definition, transition, noted, mapped);
    Ok(())
}

/// A plugin that refuses has answered: the step fails with its sentence.
fn refused(draft: &Draft, definition: &Step, refusal: &Refusal) -> Transition {
    let step = draft.step(&definition.id);
    Transition {
        state: step.and_then(|step| step.state.clone()).unwrap_or_else(|| "null".into()),
        state_version: step.map_or(0, |step| step.state_version.unsigned_abs()),
        effects: Vec::new(),
        outcome: Outcome::Failed { failure: Failure::new(&refusal.code, &refusal.message) },
        note: None,
    }
}

/// A step's ledger with the effects of an answer in it, and which of them are new.
struct Noted {
    keys: BTreeMap<String, String>,
    novelties: Vec<Novelty>,
}

fn check_effects(
    engine: &Engine,
    draft: &Draft,
    definition: &Step,
    transition: &Transition,
) -> Result<Noted, Fault> {
    let mut keys = draft.step(&definition.id).map(|step| step.effect_keys.clone()).unwrap_or_default();
    let marked = |text: &str| {
        let step = draft.step(&definition.id);
        step.is_some_and(|step| !engine.parts.keyring.markers(&step.tenant, step.id, text).is_empty())
    };
    let check = |effect| {
        apply::supported(effect)?;
        apply::within_limit(effect, engine.parts.limits.payload_bytes_max)?;
        // Only the definition's text can bring a secret in.
        if !definition.secrets.is_empty() {
            apply::keeps_secrets(effect, marked)?;
        }
        ledger::record(&mut keys, effect)
    };
    let novelties = transition.effects.iter().map(check).collect::<Result<_, _>>()?;
    Ok(Noted { keys, novelties })
}

/// The answer becomes part of the draft.
fn take_in(
    draft: &mut Draft,
    definition: &Arc<Step>,
    transition: Transition,
    noted: Noted,
    mapped: Option<Mapped>,
) {
    {
        let step = draft.step_mut(definition);
        step.effect_keys = noted.keys;
        step.state = Some(transition.state);
        step.state_version = i32::try_from(transition.state_version).unwrap_or(i32::MAX);
    }
    for (effect, novelty) in transition.effects.into_iter().zip(noted.novelties) {
        if novelty == Novelty::New {
            apply::effect(draft, definition, effect);
        }
    }
    match transition.outcome {
        Outcome::Waiting => draft.set_status(definition, StepStatus::Waiting),
        Outcome::Failed { failure } => advance::fail_step(draft, definition, failure),
        Outcome::Completed { output } => match mapping::merge(draft, mapped, output) {
            Ok(output) => advance::complete_step(draft, definition, output),
            Err(failure) => advance::fail_step(draft, definition, failure),
        },
    }
}

/// What the plugin may know of the world.
pub(super) fn context(draft: &Draft, definition: &Step) -> CallContext {
    let instance = &draft.instance;
    let step = draft.step(&definition.id);
    let seq = step.map_or(0, |step| step.seq.unsigned_abs());
    CallContext {
        tenant: instance.tenant.clone(),
        workflow: instance.workflow_key.clone(),
        instance: instance.id.to_string(),
        step: definition.id.clone(),
        attempt: step.map_or(1, |step| step.attempt.unsigned_abs()),
        seq,
        now: draft.now,
        seed: seed(step.map_or(0, |step| step.id.0.as_u128()), seq),
        config: step.and_then(|step| step.config.clone()).unwrap_or_else(|| "{}".into()),
        extra: extra(draft, definition),
    }
}

fn extra(draft: &Draft, definition: &Step) -> Value {
    let (instance, step) = (&draft.instance, draft.step(&definition.id));
    let mut extra = json!({
        "businessKey": instance.business_key, "traceparent": instance.traceparent,
        "correlationId": step.map(|step| step.id),
    });
    let begins = step.is_none_or(|step| step.seq == 0);
    if let Some(until) = until::known(draft, definition).filter(|_| begins) {
        extra["until"] = until;
    }
    extra
}

/// The same for the same call, different for any other (the finisher of SplitMix64).
#[expect(clippy::cast_possible_truncation, reason = "both halves of the id are folded in")]
fn seed(id: u128, seq: u64) -> u64 {
    let mut z = (id as u64) ^ ((id >> 64) as u64) ^ seq.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What a call without an answer used.
pub(super) const NO_USAGE: Usage = Usage { fuel: 0, memory_bytes: 0 };
