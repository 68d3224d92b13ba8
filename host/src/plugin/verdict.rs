//! Every check on what a plugin returned. Limits and grants are checks on data: nothing has been done yet.

use std::collections::HashMap;

use serde_json::Value;

use super::bindings::types;
use super::fault::verdict;
use super::{convert, storable};
use crate::domain::effect::Effect;
use crate::domain::json::check;
use crate::domain::plugin::{Descriptor, Fault, PluginLimits};
use crate::domain::transition::Transition;

/// The longest key of an effect.
const KEY_CHARS_MAX: usize = 200;

/// The longest line for the timeline; what exceeds it is cut.
const NOTE_CHARS_MAX: usize = 1_000;

/// A step's answer, if it keeps to its limits, its grants and the rules of keys.
pub(super) fn transition(
    answer: types::Transition,
    descriptor: &Descriptor,
    limits: &PluginLimits,
) -> Result<Transition, Fault> {
    let state = state(&answer.state, limits)?;
    if answer.effects.len() > limits.effects_max {
        let (count, max) = (answer.effects.len(), limits.effects_max);
        return Err(verdict("plugin_effects", format!("it returned {count} effects; its limit is {max}")));
    }
    let effects = answer.effects.into_iter().map(convert::effect).collect::<Result<Vec<_>, _>>()?;
    let mut by_key: HashMap<(&str, &str), &Effect> = HashMap::new();
    for effect in &effects {
        granted(effect, descriptor)?;
        keyed(effect)?;
        storable::effect(effect)
            .map_err(|flaw| verdict("plugin_output", format!("its effect \"{}\" {flaw}", effect.key())))?;
        let earlier = by_key.insert((effect.label(), effect.key()), effect);
        // Setting a timer again moves it; anything else would be two things under one name.
        let contradicts = earlier.is_some_and(|earlier| earlier != effect && effect.label() != "set-timer");
        if contradicts {
            let (label, key) = (effect.label(), effect.key());
            let message = format!("it returned two different `{label}` with the key \"{key}\" in one answer");
            return Err(verdict("plugin_effect_key", message));
        }
    }
    let outcome = convert::outcome(answer.outcome)?;
    storable::outcome(&outcome).map_err(|flaw| verdict("plugin_output", format!("its outcome {flaw}")))?;
    let note = answer.note.map(|note| note.replace('\0', "\u{fffd}").chars().take(NOTE_CHARS_MAX).collect());
    Ok(Transition { state, state_version: answer.state_version, effects, outcome, note })
}

/// A mapper's answer, if it can be stored.
pub(super) fn mapped(answer: &str) -> Result<Value, Fault> {
    let output = convert::json("plugin_output", || "its output".into(), answer)?;
    check(&output).map_err(|flaw| verdict("plugin_output", format!("its output {flaw}")))?;
    Ok(output)
}

fn state(text: &str, limits: &PluginLimits) -> Result<String, Fault> {
    if text.len() > limits.state_bytes_max {
        let (size, max) = (text.len(), limits.state_bytes_max);
        return Err(verdict("plugin_state", format!("its state has {size} bytes; its limit is {max}")));
    }
    let value = convert::json("plugin_state", || "its state".into(), text)?;
    check(&value).map_err(|flaw| verdict("plugin_state", format!("its state {flaw}")))?;
    Ok(convert::text(&value))
}

fn granted(effect: &Effect, descriptor: &Descriptor) -> Result<(), Fault> {
    let label = effect.label();
    if descriptor.effects.iter().any(|granted| granted == label) {
        return Ok(());
    }
    let message =
        format!("it returned the effect `{label}`, which its descriptor does not list under `effects`");
    Err(verdict("plugin_effect_not_granted", message))
}

fn keyed(effect: &Effect) -> Result<(), Fault> {
    let (label, chars) = (effect.label(), effect.key().chars().count());
    // The host's own entries beside the keys begin with a control character.
    if effect.key().starts_with(char::is_control) {
        let message = format!("its effect `{label}` has a key that begins with a control character");
        return Err(verdict("plugin_effect_key", message));
    }
    if (1..=KEY_CHARS_MAX).contains(&chars) {
        return Ok(());
    }
    let message =
        format!("its effect `{label}` has a key of {chars} characters; a key has 1 to {KEY_CHARS_MAX}");
    Err(verdict("plugin_effect_key", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(effects: Vec<types::Effect>) -> types::Transition {
        types::Transition {
            state: r#"{"b": 1, "a": 2}"#.into(),
            state_version: 1,
            effects,
            outcome: types::Outcome::Waiting,
            note: None,
        }
    }

    fn timer(key: &str, at: u64) -> types::Effect {
        types::Effect::SetTimer(types::TimerSpec { key: key.into(), at, kind: "DELAY".into() })
    }

    fn publish(key: &str, payload: &str) -> types::Effect {
        types::Effect::Publish(types::Message {
            key: key.into(),
            name: "n".into(),
            correlation: None,
            payload: payload.into(),
            headers: Vec::new(),
        })
    }

    fn judge(answer: types::Transition) -> Result<Transition, &'static str> {
        let descriptor =
            Descriptor { effects: vec!["set-timer".into(), "publish".into()], ..Default::default() };
        transition(answer, &descriptor, &PluginLimits::default()).map_err(|fault| fault.code)
    }

    #[test]
    fn state_is_made_canonical() {
        assert_eq!(judge(answer(vec![])).unwrap().state, r#"{"a":2,"b":1}"#);
    }

    #[test]
    fn keys_are_checked() {
        assert_eq!(judge(answer(vec![timer("", 1)])), Err("plugin_effect_key"));
        assert_eq!(judge(answer(vec![timer(&"k".repeat(201), 1)])), Err("plugin_effect_key"));
        assert!(judge(answer(vec![timer("k", 1), timer("k", 2)])).is_ok(), "a timer may be moved");
        assert!(
            judge(answer(vec![publish("k", "1"), publish("k", "1")])).is_ok(),
            "a repeat is no contradiction"
        );
        assert_eq!(judge(answer(vec![publish("k", "1"), publish("k", "2")])), Err("plugin_effect_key"));
        assert!(
            judge(answer(vec![publish("k", "1"), timer("k", 2)])).is_ok(),
            "kinds have keys of their own"
        );
    }

    #[test]
    fn what_cannot_be_stored_is_refused() {
        assert_eq!(judge(answer(vec![publish("k", r#""\u0000""#)])), Err("plugin_output"));
        assert_eq!(judge(answer(vec![publish("k\0", "1")])), Err("plugin_output"));
        let deep = "[".repeat(70) + &"]".repeat(70);
        assert_eq!(judge(types::Transition { state: deep.clone(), ..answer(vec![]) }), Err("plugin_state"));
        assert_eq!(mapped(&deep).map_err(|fault| fault.code), Err("plugin_output"));
        assert_eq!(
            judge(answer(vec![types::Effect::CancelTask("k".into())])),
            Err("plugin_effect_not_granted")
        );
    }
}
