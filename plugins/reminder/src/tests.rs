//! The plugin's logic, natively.

use serde_json::{Value, json};
use stepwell_sdk::bindings::step::exports::stepwell::plugin::step::Guest as _;
use stepwell_sdk::step::Adapter;
use stepwell_sdk::{Context, CustomItem, Effect, Event, Outcome, PluginError, Transition};

use crate::Reminder;

/// 2026-01-01.
const NOW_MS: u64 = 1_767_225_600_000;
const DAY_MS: u64 = 86_400_000;

fn context(config: &Value, now: u64, extra: &Value) -> Context {
    Context {
        tenant: "default".into(),
        workflow: "w".into(),
        instance: "i".into(),
        step: "s".into(),
        attempt: 1,
        seq: 0,
        now,
        seed: 0,
        config: config.to_string(),
        extra: extra.to_string(),
    }
}

fn start_with(config: &Value, extra: &Value) -> Result<Transition, String> {
    Adapter::<Reminder>::start(context(config, NOW_MS, extra), "{}".into()).map_err(|error| match error {
        PluginError::InvalidConfig(text) => text,
        other => format!("{other:?}"),
    })
}

fn start(config: &Value) -> Result<Transition, String> {
    start_with(config, &json!({}))
}

fn on_event(config: &Value, before: &Transition, now: u64, event: Event) -> Transition {
    let context = context(config, now, &json!({}));
    Adapter::<Reminder>::on_event(context, before.state.clone(), event).expect("an answer")
}

fn custom(kind: &str, payload: &Value) -> Event {
    Event::Custom(CustomItem { key: String::new(), kind: kind.into(), payload: payload.to_string() })
}

/// What goes out, and when the next one does.
fn told(next: &Transition) -> (Vec<&str>, Option<u64>) {
    let keys = next.effects.iter().filter_map(|effect| match effect {
        Effect::Notify(note) => Some(note.key.as_str()),
        _ => None,
    });
    let timer = next.effects.iter().find_map(|effect| match effect {
        Effect::SetTimer(timer) => Some(timer.at),
        _ => None,
    });
    (keys.collect(), timer)
}

fn output(next: &Transition) -> Value {
    let Outcome::Completed(output) = &next.outcome else { panic!("it is done: {:?}", next.outcome) };
    serde_json::from_str(output).expect("JSON")
}

#[test]
fn one_reminder_goes_out_and_nobody_waits() {
    let next = start(&json!({ "channel": "SLACK", "message": "Hello" })).expect("good");
    assert_eq!(told(&next), (vec!["reminder-1"], None));
    assert_eq!(
        output(&next),
        json!({ "sent": 1, "lastSentAt": "2026-01-01T00:00:00.000Z", "endedBy": "max" })
    );
}

#[test]
fn three_go_out_a_day_apart() {
    let config = json!({
        "channel": "EMAIL", "recipients": ["a@example.org"], "message": "m", "delay": "2h", "every": "24h", "max": 3,
    });
    let mut next = start(&config).expect("good");
    let mut now = NOW_MS + 7_200_000;
    assert_eq!(told(&next), (vec![], Some(now)));
    for (key, more) in [("reminder-1", true), ("reminder-2", true), ("reminder-3", false)] {
        next = on_event(&config, &next, now, Event::TimerFired("next".into()));
        assert_eq!(told(&next), (vec![key], more.then_some(now + DAY_MS)));
        now += DAY_MS;
    }
    assert_eq!(output(&next)["sent"], 3);
}

#[test]
fn the_end_of_the_step_that_is_waited_for_ends_it() {
    let config = json!({ "channel": "SLACK", "message": "m", "every": "24h" });
    let waits = json!({ "until": { "step": "approve", "ended": false } });
    let next = start_with(&config, &waits).expect("good");
    assert_eq!(next.outcome, Outcome::Waiting);
    let ended = on_event(&config, &next, NOW_MS + 5, custom("step-ended", &json!({ "step": "approve" })));
    assert_eq!(
        (output(&ended)["sent"].clone(), output(&ended)["endedBy"].clone()),
        (json!(1), json!("until"))
    );
    let late = start_with(&config, &json!({ "until": { "step": "approve", "ended": true } })).expect("good");
    assert_eq!((told(&late).0, output(&late)["sent"].clone()), (vec![], json!(0)));
}

#[test]
fn what_is_required_must_arrive() {
    let config = json!({ "channel": "SLACK", "message": "m", "required": true });
    let next = start(&config).expect("good");
    assert_eq!(next.outcome, Outcome::Waiting);
    let sent = custom("notified", &json!({ "key": "reminder-1", "status": "SENT" }));
    assert_eq!(output(&on_event(&config, &next, NOW_MS, sent))["sent"], 1);
    let failed = custom("notified", &json!({ "key": "reminder-1", "status": "FAILED", "error": "no route" }));
    let Outcome::Failed(failure) = on_event(&config, &next, NOW_MS, failed.clone()).outcome else {
        panic!("it fails")
    };
    assert_eq!(failure.code, "reminder_failed");
    assert!(failure.message.contains("no route"));
    let config = json!({ "channel": "SLACK", "message": "m", "every": "1h", "max": 2 });
    let next = start(&config).expect("good");
    assert_eq!(on_event(&config, &next, NOW_MS, failed).outcome, Outcome::Waiting, "it is not required");
}

#[test]
fn an_operator_may_withdraw_it() {
    let config = json!({ "channel": "SLACK", "message": "m", "delay": "1h" });
    let next = start(&config).expect("good");
    let withdrawn = on_event(&config, &next, NOW_MS, custom("timer-cancelled", &json!({})));
    assert_eq!(output(&withdrawn)["endedBy"], "cancelled");
    let config = json!({ "channel": "SLACK", "message": "m", "delay": "1h", "required": true });
    let withdrawn = on_event(&config, &next, NOW_MS, custom("timer-cancelled", &json!({})));
    assert!(matches!(withdrawn.outcome, Outcome::Failed(failure) if failure.code == "timer_cancelled"));
}

#[test]
fn nonsense_is_refused_by_the_name_of_the_field() {
    for (field, value, sentence) in [
        ("channel", json!("PIGEON"), "channel: "),
        ("recipients", json!(["a\nb"]), "recipients: "),
        ("every", json!("24h"), "every: would never end"),
        ("every", json!("-1h"), "every: "),
        ("max", json!(3), "max: "),
        ("delay", json!("soon"), "delay: "),
        ("scheduleAt", json!("2026-01-02T00:00:00"), "scheduleAt: "),
        ("timeZone", json!("Mars/Phobos"), "timeZone: "),
    ] {
        let mut config = json!({ "channel": "SLACK", "message": "m" });
        config[field] = value;
        let refusal = start(&config).expect_err("it is refused");
        assert!(refusal.starts_with(sentence), "{config}: {refusal}");
    }
    let both =
        json!({ "channel": "SLACK", "message": "m", "delay": "1h", "scheduleAt": "2027-01-01T00:00:00Z" });
    assert!(start(&both).is_err_and(|refusal| refusal.starts_with("scheduleAt: ")));
    let trial =
        json!({ "channel": null, "message": "m", "scheduleAt": "2027-01-01T00:00:00", "timeZone": null });
    assert_eq!(start(&trial).expect("nothing is wrong").effects, []);
}
