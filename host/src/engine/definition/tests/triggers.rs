//! `triggers`: what is taken, and every mistake with its line and field.

use std::collections::BTreeMap;

use serde_json::json;

use super::{deploy, mistakes};
use crate::domain::Timestamp;
use crate::domain::limits::Limits;
use crate::domain::trigger::{CronTrigger, EventTrigger, Misfire, Overlap, TriggerKind};
use crate::engine::definition::{check_triggers, read, runs};

const STEPS: &str = "steps:\n- {id: a, type: PASS}\n";
/// 2026-03-28T12:00:00Z: in Prague clocks go forward in the night to come.
const NOON: Timestamp = Timestamp::from_millis(1_774_699_200_000);

#[track_caller]
fn check(triggers: &str, expected: &[&str]) {
    let found = mistakes(&format!("triggers: {triggers}\n{STEPS}"));
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "found    {found}\nexpected {expected}");
    }
}

#[test]
fn a_cron_trigger_has_everything_or_its_defaults() {
    let source = format!(
        "triggers:\n- cron: 0 2 * * *\n- id: nightly\n  cron: '@daily'\n  timeZone: Europe/Prague\n  misfire: fire_all\n  \
         overlap: queue\n  context: {{ a: 1 }}\n{STEPS}"
    );
    let workflow = deploy(&source).expect("it is fine");
    let [first, second] = workflow.triggers.as_slice() else { panic!("two triggers") };
    assert_eq!((first.id.as_str(), second.id.as_str()), ("cron-1", "nightly"));
    let cron = |cron: &str| CronTrigger {
        cron: cron.into(),
        time_zone: "UTC".into(),
        misfire: Misfire::FireOnce,
        overlap: Overlap::Allow,
        context: json!({}),
    };
    assert_eq!(first.kind, TriggerKind::Cron(cron("0 2 * * *")));
    let told = CronTrigger {
        time_zone: "Europe/Prague".into(),
        misfire: Misfire::FireAll,
        overlap: Overlap::Queue,
        context: json!({ "a": 1 }),
        ..cron("@daily")
    };
    assert_eq!(second.kind, TriggerKind::Cron(told));
    assert!(deploy(&format!("triggers: []\n{STEPS}")).expect("it is fine").triggers.is_empty());
}

#[test]
fn an_event_trigger_has_a_topic_and_perhaps_a_filter() {
    let source = format!(
        "triggers:\n- event: orders\n- id: paid\n  event: payments\n  filter: {{ data.ok: true }}\n  \
         businessKeyField: data.order\n{STEPS}"
    );
    let workflow = deploy(&source).expect("it is fine");
    let [first, second] = workflow.triggers.as_slice() else { panic!("two triggers") };
    assert_eq!((first.id.as_str(), second.id.as_str()), ("event-1", "paid"));
    let bare = EventTrigger { topic: "orders".into(), filter: BTreeMap::new(), business_key_field: None };
    assert_eq!(first.kind, TriggerKind::Event(bare));
    let told = EventTrigger {
        topic: "payments".into(),
        filter: BTreeMap::from([("data.ok".into(), json!(true))]),
        business_key_field: Some("data.order".into()),
    };
    assert_eq!(second.kind, TriggerKind::Event(told));
}

#[test]
fn mistakes_are_told_where_they_are() {
    check("5", &["1:1 triggers: `triggers` is a list"]);
    check("[daily]", &["1:12 triggers[0]: a trigger is an object"]);
    check("[{}]", &["1:12 triggers[0]: a trigger says what it waits for: `cron`"]);
    check("[{event: ''}]", &["1:13 triggers[0].event: `event` is a topic"]);
    check("[{event: 7}]", &["1:13 triggers[0].event: `event` is text"]);
    check("[{event: x, filter: 7}]", &["1:23 triggers[0].filter: `filter` is an object"]);
    check("[{event: x, context: {}}]", &["1:23 triggers[0].context: the field `context` is not known"]);
    check("[{webhook: x}]", &["1:13 triggers[0].webhook: `webhook` is not supported yet"]);
    check("[{cron: '@daily', event: x}]", &["1:29 triggers[0].event: `event` cannot stand beside `cron`"]);
    check("[{cron: noon}]", &["1:13 triggers[0].cron: \"noon\" is no cron expression"]);
    check("[{cron: 5}]", &["1:13 triggers[0].cron: `cron` is text"]);
    check("[{cron: }]", &["1:13 triggers[0].cron: `cron` is empty"]);
    check("[{cron: '@daily', timeZone: Mars/Phobos}]", &["1:29 triggers[0].timeZone: \"Mars/Phobos\" is no"]);
    check("[{cron: '@daily', misfire: maybe}]", &["1:29 triggers[0].misfire: `misfire` is `fire_once`"]);
    check("[{cron: '@daily', overlap: 5}]", &["1:29 triggers[0].overlap: `overlap` is `allow`"]);
    check("[{cron: '@daily', context: []}]", &["1:29 triggers[0].context: `context` is an object"]);
    check("[{cron: '@daily', tz: UTC}]", &["1:29 triggers[0].tz: the field `tz` is not known"]);
    check("[{cron: '@daily', id: a b}]", &["1:29 triggers[0].id: `a b` is not a trigger's id"]);
    check(
        "[{cron: '@daily', id: x}, {cron: '@daily', id: x}]",
        &["1:54 triggers[1].id: another trigger has the id `x`"],
    );
    let many = vec!["{cron: '@daily'}"; 51].join(", ");
    check(&format!("[{many}]"), &["1:1 triggers: there are 51 triggers"]);
}

#[test]
fn one_that_never_runs_is_told_with_the_time_of_the_deployment() {
    let source = format!("triggers: [{{cron: 0 0 30 2 *}}]\n{STEPS}");
    let document = read(&source, &Limits::default()).expect("it can be read");
    let workflow = deploy(&source).expect("its shape is fine");
    let refused = check_triggers(&document, &workflow, NOON).expect_err("February has no 30th");
    assert!(refused.to_string().contains("line 1, triggers[0].cron: "), "{refused}");
    assert!(refused.to_string().contains("never runs"), "{refused}");
}

#[test]
fn runs_follow_the_clock_on_the_wall() {
    let source = format!("triggers: [{{cron: 30 2 * * *, timeZone: Europe/Prague}}]\n{STEPS}");
    let workflow = deploy(&source).expect("it is fine");
    let cron = workflow.triggers[0].cron().expect("it is one");
    let found: Vec<String> = runs(cron, NOON, 3).expect("it runs").iter().map(ToString::to_string).collect();
    let expected = ["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z", "2026-03-31T00:30:00.000Z"];
    assert_eq!(found, expected, "the night has no half past two: it runs when the gap ends");
}
