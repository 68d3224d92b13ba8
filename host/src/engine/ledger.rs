//! The keys of a step's effects: a repeat is a no-op, a contradiction is a fault, and what is open is known.

use std::collections::BTreeMap;

use super::signal::Origin;
use crate::domain::effect::Effect;
use crate::domain::id::Digest;
use crate::domain::plugin::Fault;
use crate::domain::wait::WAIT_EFFECT;

/// Begins the entries of messages that came out of the outbox: keys of effects do not begin so.
const RECEIVED: &str = "\u{1}received/";

/// Messages of the outbox that a step remembers.
const RECEIVED_MAX: usize = 64;

/// Begins the entries of named events that came from outside.
const HEARD: &str = "\u{1}heard/";

/// The entry of a wait.
const WAIT: &str = "wait:";

/// Marks an entry whose task, timer or subscription is over.
const CLOSED: &str = "!";

/// What to do with an effect.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    /// Not seen before: do it.
    New,
    /// Emitted before, the same: nothing to do.
    Repeat,
}

/// Notes an effect in a step's ledger.
pub(super) fn record(ledger: &mut BTreeMap<String, String>, effect: &Effect) -> Result<Novelty, Fault> {
    match effect {
        // Withdrawing is idempotent by itself.
        Effect::CancelTask { key } | Effect::CancelTimer { key } | Effect::Unsubscribe { key } => {
            close(ledger, key);
            return Ok(Novelty::New);
        }
        // Setting a timer replaces it, and opens its key again.
        Effect::SetTimer { key, .. } => {
            let mark = entry(effect, "");
            if ledger.get(key).is_some_and(|seen| !seen.starts_with(mark.as_str())) {
                return Err(contradiction(effect));
            }
            ledger.insert(key.clone(), mark);
            return Ok(Novelty::New);
        }
        // A wait is told anew whenever something has come.
        Effect::Custom { key, custom_kind, payload } if custom_kind == WAIT_EFFECT => {
            if ledger.get(key).is_some_and(|seen| !seen.starts_with(WAIT)) {
                return Err(contradiction(effect));
            }
            let over = if super::events::is_over(payload) { CLOSED } else { "" };
            ledger.insert(key.clone(), format!("{WAIT}{over}"));
            return Ok(Novelty::New);
        }
        _ => {}
    }
    let text = serde_json::to_string(effect).unwrap_or_default();
    let mark = entry(effect, Digest::of(text.as_bytes()).short());
    match ledger.get(effect.key()) {
        None => {
            ledger.insert(effect.key().to_owned(), mark);
            Ok(Novelty::New)
        }
        // A subscription that was ended may be made again.
        Some(seen) if *seen == format!("{mark}{CLOSED}") && matches!(effect, Effect::Subscribe { .. }) => {
            ledger.insert(effect.key().to_owned(), mark);
            Ok(Novelty::New)
        }
        Some(seen) if seen.trim_end_matches(CLOSED) == mark => Ok(Novelty::Repeat),
        Some(_) => Err(contradiction(effect)),
    }
}

/// Notes a timer of the host's own.
pub(super) fn open_timer(ledger: &mut BTreeMap<String, String>, key: &str) {
    ledger.insert(key.to_owned(), "set-timer:".to_owned());
}

/// Notes that a task, timer or subscription is over.
pub(super) fn close(ledger: &mut BTreeMap<String, String>, key: &str) {
    if let Some(mark) = ledger.get_mut(key)
        && !mark.ends_with(CLOSED)
    {
        mark.push_str(CLOSED);
    }
}

/// Notes that a task that was over is open again.
pub(super) fn reopen(ledger: &mut BTreeMap<String, String>, key: &str) {
    if let Some(mark) = ledger.get_mut(key) {
        mark.truncate(mark.trim_end_matches(CLOSED).len());
    }
}

/// Notes a message out of the outbox; false if it was received before, by a host that died before it could remove it.
pub(super) fn receive(ledger: &mut BTreeMap<String, String>, origin: &Origin) -> bool {
    let key = format!("{RECEIVED}{}", origin.item);
    if ledger.insert(key, String::new()).is_some() {
        return false;
    }
    let received = || ledger.keys().filter(|key| key.starts_with(RECEIVED));
    // Ids are in order of their making: the oldest is the least likely to come again.
    if received().count() > RECEIVED_MAX
        && let Some(oldest) = received().min().cloned()
    {
        ledger.remove(&oldest);
    }
    true
}

/// Notes a named event that came from outside; false if it had come before.
pub(super) fn hear(ledger: &mut BTreeMap<String, String>, name: &str) -> bool {
    ledger.insert(format!("{HEARD}{name}"), String::new()).is_none()
}

/// Takes back that an event has come: the step did not take it.
pub(super) fn unhear(ledger: &mut BTreeMap<String, String>, name: &str) {
    ledger.remove(&format!("{HEARD}{name}"));
}

/// Whether a task, timer or subscription may still be open.
pub(super) fn has_open(ledger: &BTreeMap<String, String>) -> bool {
    ledger.values().any(|mark| {
        !mark.ends_with(CLOSED)
            && ["create-task:", "set-timer:", "subscribe:", WAIT].iter().any(|kind| mark.starts_with(kind))
    })
}

fn entry(effect: &Effect, hash: &str) -> String {
    format!("{}:{hash}", effect.label())
}

fn contradiction(effect: &Effect) -> Fault {
    Fault {
        code: "plugin_effect_key",
        message: format!(
            "the plugin used the key '{}' of an earlier effect for another {}; keys must be unique within an attempt",
            effect.key(),
            effect.label()
        ),
        transient: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publish(key: &str, payload: i32) -> Effect {
        Effect::Publish {
            key: key.into(),
            name: "n".into(),
            correlation: None,
            payload: payload.into(),
            headers: vec![],
        }
    }

    fn timer(at_ms: i64) -> Effect {
        Effect::SetTimer { key: "t".into(), at_ms, timer_type: "DELAY".into() }
    }

    #[test]
    fn a_repeat_is_a_no_op_and_a_contradiction_a_fault() {
        let mut ledger = BTreeMap::new();
        assert_eq!(record(&mut ledger, &publish("a", 1)), Ok(Novelty::New));
        assert_eq!(record(&mut ledger, &publish("a", 1)), Ok(Novelty::Repeat));
        assert_eq!(record(&mut ledger, &publish("a", 2)).unwrap_err().code, "plugin_effect_key");
        assert!(!has_open(&ledger));
    }

    #[test]
    fn a_subscription_that_was_ended_may_be_made_again() {
        let subscribe = Effect::Subscribe {
            key: "s".into(),
            name: "n".into(),
            correlation: None,
            expires_at_ms: None,
            extra: serde_json::Value::Null,
        };
        let mut ledger = BTreeMap::new();
        assert_eq!(record(&mut ledger, &subscribe), Ok(Novelty::New));
        assert_eq!(record(&mut ledger, &subscribe), Ok(Novelty::Repeat));
        assert_eq!(record(&mut ledger, &Effect::Unsubscribe { key: "s".into() }), Ok(Novelty::New));
        assert!(!has_open(&ledger));
        assert_eq!(record(&mut ledger, &subscribe), Ok(Novelty::New));
        assert!(has_open(&ledger));
    }

    #[test]
    fn a_message_is_received_once() {
        let origin = |item: u128| Origin { item: uuid::Uuid::from_u128(item) };
        let mut ledger = BTreeMap::new();
        assert!(receive(&mut ledger, &origin(3)));
        assert!(!receive(&mut ledger, &origin(3)));
        assert!(receive(&mut ledger, &origin(2)), "made before the other, and committed after it");
        assert!(!receive(&mut ledger, &origin(3)) && !receive(&mut ledger, &origin(2)));
        assert!(!has_open(&ledger));
        (10..200).for_each(|n| assert!(receive(&mut ledger, &origin(n))));
        assert_eq!(ledger.len(), RECEIVED_MAX);
        assert!(!receive(&mut ledger, &origin(199)));
    }

    #[test]
    fn a_timer_can_be_moved_and_its_key_is_its_own() {
        let mut ledger = BTreeMap::new();
        assert_eq!(record(&mut ledger, &timer(1)), Ok(Novelty::New));
        assert!(has_open(&ledger));
        close(&mut ledger, "t");
        assert!(!has_open(&ledger));
        assert_eq!(record(&mut ledger, &timer(2)), Ok(Novelty::New));
        assert!(has_open(&ledger));
        assert!(record(&mut ledger, &publish("t", 1)).is_err());
    }
}
