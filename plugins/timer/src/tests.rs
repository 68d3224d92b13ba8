//! The plugin's logic, natively.

use serde_json::{Value, json};
use stepwell_sdk::bindings::step::exports::stepwell::plugin::step::Guest as _;
use stepwell_sdk::step::Adapter;
use stepwell_sdk::{Context, Effect, Event, Outcome, PluginError, TimerSpec, Transition};

use crate::Timer;

/// 2026-01-01.
const NOW_MS: u64 = 1_767_225_600_000;

fn context(config: &Value, now: u64) -> Context {
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
        extra: "{}".into(),
    }
}

fn start(config: &Value) -> Result<Transition, String> {
    Adapter::<Timer>::start(context(config, NOW_MS), "{}".into()).map_err(|error| match error {
        PluginError::InvalidConfig(text) => text,
        other => format!("{other:?}"),
    })
}

fn timer(config: &Value) -> TimerSpec {
    let mut next = start(config).expect("the configuration is good");
    assert_eq!(next.outcome, Outcome::Waiting);
    match next.effects.remove(0) {
        Effect::SetTimer(timer) if next.effects.is_empty() => timer,
        other => panic!("not one timer: {other:?}"),
    }
}

#[test]
fn every_kind_of_timer_is_set() {
    for (config, after_ms, kind) in [
        (json!({ "delay": "2h" }), 7_200_000, "DELAY"),
        (json!({ "delay": 90 }), 90_000, "DELAY"),
        (json!({ "delay": "P1M", "timeZone": "Europe/Prague" }), 31 * 86_400_000, "DELAY"),
        (json!({ "scheduleAt": "2026-01-02T00:00:00Z" }), 86_400_000, "SCHEDULED"),
        (
            json!({ "scheduleAt": "2026-01-02T01:00:00", "timeZone": "Europe/Prague" }),
            86_400_000,
            "SCHEDULED",
        ),
        (json!({ "cron": "0 2 * * *" }), 7_200_000, "SCHEDULED"),
        (json!({ "cron": "0 2 * * *", "timeZone": "Europe/Prague" }), 3_600_000, "SCHEDULED"),
        (json!({ "cron": "@daily" }), 86_400_000, "SCHEDULED"),
    ] {
        let timer = timer(&config);
        assert_eq!((timer.at, timer.kind.as_str()), (NOW_MS + after_ms, kind), "{config}");
    }
}

#[test]
fn a_moment_of_the_past_is_due_at_once() {
    assert_eq!(timer(&json!({ "scheduleAt": "2025-11-09T02:00:00Z" })).at, 1_762_653_600_000);
    assert_eq!(timer(&json!({ "scheduleAt": "1901-01-01T00:00:00Z" })).at, 0, "as early as a timer can be");
}

#[test]
fn it_completes_with_when_it_fired() {
    let state = start(&json!({ "delay": "2h" })).expect("good").state;
    let fired = Event::TimerFired("timer".into());
    let later = context(&json!({ "delay": "2h" }), NOW_MS + 7_200_012);
    let next = Adapter::<Timer>::on_event(later, state, fired).expect("an answer");
    let Outcome::Completed(output) = next.outcome else { panic!("it is done") };
    let output: Value = serde_json::from_str(&output).expect("JSON");
    let expected = json!({ "triggeredAt": "2026-01-01T02:00:00.012Z", "dueAt": "2026-01-01T02:00:00.000Z" });
    assert_eq!(output, expected);
}

#[test]
fn nonsense_is_refused_by_the_name_of_the_field() {
    for (config, sentence) in [
        (json!({}), "one of `delay`"),
        (json!({ "timeZone": "UTC" }), "one of `delay`"),
        (
            json!({ "delay": "1h", "scheduleAt": "2026-01-02T00:00:00Z" }),
            "scheduleAt: cannot stand beside `delay`",
        ),
        (json!({ "delay": null, "cron": null }), "cron: cannot stand beside `delay`"),
        (json!({ "delay": "0s" }), "delay: "),
        (json!({ "delay": -5 }), "delay: "),
        (json!({ "delay": "-1h" }), "delay: "),
        (json!({ "delay": "100y" }), "delay: "),
        (json!({ "delay": "3 fortnights" }), "delay: "),
        (json!({ "scheduleAt": "2026-01-02T00:00:00" }), "scheduleAt: "),
        (json!({ "scheduleAt": "2226-01-02T00:00:00Z" }), "scheduleAt: "),
        (json!({ "cron": "0 0 30 2 *" }), "cron: "),
        (json!({ "cron": "@noon" }), "cron: "),
        (json!({ "cron": "@daily", "timeZone": "Mars/Phobos" }), "timeZone: "),
        (json!({ "delay": null, "timeZone": "Mars/Phobos" }), "timeZone: "),
        (json!({ "cron": "@noon", "timeZone": null }), "cron: "),
    ] {
        let refusal = start(&config).expect_err("it is refused");
        assert!(refusal.starts_with(sentence), "{config}: {refusal}");
    }
}

#[test]
fn what_is_not_known_yet_is_not_refused() {
    for config in [
        json!({ "delay": null }),
        json!({ "scheduleAt": "2026-01-02T00:00:00", "timeZone": null }),
        json!({ "cron": null, "timeZone": "Europe/Prague" }),
    ] {
        assert_eq!(start(&config).expect("nothing is wrong").effects, [], "{config}");
    }
}

#[test]
fn other_events_are_refused_and_a_cancellation_is_heard() {
    let config = json!({ "delay": "2h" });
    let on_event =
        |event| Adapter::<Timer>::on_event(context(&config, NOW_MS), r#"{"dueAtMs":1}"#.into(), event);
    let told = on_event(Event::CancelRequested("enough".into())).expect("it is heard");
    assert_eq!(told.outcome, Outcome::Waiting);
    let custom = |kind: &str| {
        let (key, payload) = (String::new(), String::from("{}"));
        Event::Custom(stepwell_sdk::CustomItem { key, kind: kind.into(), payload })
    };
    let withdrawn = on_event(custom("timer-cancelled")).expect("it is heard").outcome;
    assert!(matches!(withdrawn, Outcome::Failed(failure) if failure.code == "timer_cancelled"));
    assert!(matches!(on_event(custom("other")), Err(PluginError::UnsupportedEvent(_))));
    let message = stepwell_sdk::Message {
        key: "k".into(),
        name: "n".into(),
        correlation: None,
        payload: "{}".into(),
        headers: Vec::new(),
    };
    assert!(matches!(on_event(Event::MessageReceived(message)), Err(PluginError::UnsupportedEvent(_))));
}

fn told(config: &Value, state: &str, now: u64, event: Event) -> Transition {
    Adapter::<Timer>::on_event(context(config, now), state.into(), event).expect("an answer")
}

fn notified(status: &str) -> Event {
    let payload = json!({ "key": "reminder-1", "status": status, "error": "no route" }).to_string();
    Event::Custom(stepwell_sdk::CustomItem { key: String::new(), kind: "notified".into(), payload })
}

#[test]
fn a_reminder_goes_out_when_the_timer_is_due() {
    let reminder =
        json!({ "enabled": true, "channel": "EMAIL", "recipients": ["a@example.org"], "message": "m" });
    let config = json!({ "delay": "2h", "reminder": reminder });
    let fired = || Event::TimerFired("timer".into());
    let state = start(&config).expect("good").state;
    let next = told(&config, &state, NOW_MS + 7_200_000, fired());
    assert!(matches!(&next.effects[..], [Effect::Notify(note)] if note.recipients == ["a@example.org"]));
    let Outcome::Completed(output) = next.outcome else { panic!("nobody waits for it") };
    assert!(output.contains("\"reminders\":1") && output.contains("2026-01-01T02:00:00.000Z"), "{output}");

    let mut required = config.clone();
    required["reminder"]["required"] = json!(true);
    let next = told(&required, &state, NOW_MS, fired());
    assert_eq!(next.outcome, Outcome::Waiting);
    let sent = told(&required, &next.state, NOW_MS, notified("SENT")).outcome;
    assert!(matches!(sent, Outcome::Completed(_)));
    let failed = told(&required, &next.state, NOW_MS, notified("FAILED")).outcome;
    assert!(matches!(failed, Outcome::Failed(failure) if failure.code == "reminder_failed"));

    let mut again = config.clone();
    (again["reminder"]["every"], again["reminder"]["max"]) = (json!("24h"), json!(2));
    let next = told(&again, &state, NOW_MS, fired());
    assert!(
        matches!(&next.effects[..], [Effect::Notify(_), Effect::SetTimer(timer)] if timer.kind == "REMINDER")
    );
    let next = told(&again, &next.state, NOW_MS + 86_400_000, Event::TimerFired("next".into()));
    let Outcome::Completed(output) = next.outcome else { panic!("it was the last one") };
    assert!(output.contains("\"triggeredAt\":\"2026-01-01T00:00:00.000Z\""), "{output}");

    for (reminder, quiet) in
        [(json!({ "message": "m" }), true), (json!({ "enabled": false, "channel": "FAX" }), true)]
    {
        let config = json!({ "delay": "2h", "reminder": reminder });
        let state = start(&config).expect("it is not enabled").state;
        assert_eq!(told(&config, &state, NOW_MS, fired()).effects.is_empty(), quiet);
    }
    for (reminder, sentence) in [
        (json!({ "enabled": true, "channel": "FAX", "message": "m" }), "reminder.channel: "),
        (json!({ "enabled": true, "channel": "EMAIL", "message": "m" }), "reminder.recipients: "),
        (json!({ "enabled": true, "channel": "SLACK", "message": "m", "every": "1h" }), "reminder.every: "),
        (json!({ "enabled": null, "channel": "SLACK" }), "reminder.message: "),
    ] {
        let refusal = start(&json!({ "delay": "2h", "reminder": reminder })).expect_err("it is refused");
        assert!(refusal.starts_with(sentence), "{refusal}");
    }
}
