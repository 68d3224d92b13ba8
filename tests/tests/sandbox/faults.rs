//! A plugin that misbehaves: each way has its code, and the host is as good as new after it.

use serde_json::json;
use stepwell::domain::Digest;
use stepwell::domain::plugin::StepVerb;
use stepwell::engine::port::Plugins as _;
use stepwell_tests::guests;

use crate::kit::{Captured, fault, host, map, mode, output, served, start};

#[tokio::test]
async fn every_way_of_misbehaving_has_its_code() {
    let host = host();
    let digest = served(&host, guests::hostile()).await;
    for (way, size, code) in [
        ("trap", 0, "plugin_trap"),
        ("recursion", 0, "plugin_trap"),
        ("loop", 0, "plugin_fuel"),
        ("memory", 64, "plugin_memory"),
        ("output", 5 << 20, "plugin_output"),
        ("output", 100 << 20, "plugin_memory"),
        ("echo", 100, "plugin_output"),
        ("log", 100_000, "plugin_fuel"),
        ("not-json", 0, "plugin_output"),
        ("nul", 0, "plugin_output"),
        ("deep", 100, "plugin_output"),
        ("deep", 1_000, "plugin_output"),
        ("state", 300 << 10, "plugin_state"),
        ("state-not-json", 0, "plugin_state"),
        ("effects", 65, "plugin_effects"),
        ("effects", 2_000, "plugin_effects"),
        ("effects", 10_000, "plugin_effects"),
        ("not-granted", 0, "plugin_effect_not_granted"),
        ("no-key", 0, "plugin_effect_key"),
    ] {
        assert_eq!(fault(&host, &digest, &mode(way, size)).await, (code, false), "{way} {size}");
        assert_eq!(
            output(&host, &digest, &mode("fine", 0)).await,
            json!({ "from": "before" }),
            "after {way}"
        );
    }
}

#[tokio::test]
async fn what_is_just_within_the_limits_is_fine() {
    let host = host();
    let digest = served(&host, guests::hostile()).await;
    for (way, size) in
        [("memory", 8), ("output", 500_000), ("deep", 60), ("state", 200 << 10), ("effects", 64)]
    {
        let answer = host.call_step(&digest, &mode(way, size)).await;
        assert!(answer.is_ok_and(|answer| answer.result.is_ok()), "{way} {size}");
    }
}

#[tokio::test]
async fn a_refusal_is_an_answer_and_no_fault() {
    let host = host();
    let digest = served(&host, guests::hostile()).await;
    let refusal = host.call_step(&digest, &mode("refuse", 0)).await.unwrap().result.unwrap_err();
    assert_eq!((refusal.code.as_str(), refusal.message.as_str()), ("invalid_input", "as told"));
}

#[tokio::test]
async fn a_step_that_traps_on_an_event_can_be_mended() {
    let host = host();
    let (broken, mended) =
        (served(&host, guests::moody_broken()).await, served(&host, guests::moody_mended()).await);
    let mut call = start(&json!({}), json!({}));
    let begun = host.call_step(&broken, &call).await.unwrap().result.unwrap();
    assert_eq!(begun.effects.len(), 1);
    let event = stepwell::domain::event::Event::TaskCompleted {
        key: "task".into(),
        worker: "w".into(),
        output: json!({ "done": true }),
    };
    call.verb = StepVerb::OnEvent { state: begun.state, event };
    assert_eq!(fault(&host, &broken, &call).await, ("plugin_trap", false));
    assert_eq!(output(&host, &mended, &call).await, json!({ "done": true }));
}

#[tokio::test]
async fn a_mapper_that_traps_is_a_fault_too() {
    let host = host();
    let digest = served(&host, guests::moody_mapper()).await;
    let fault =
        host.transform(&digest, &map(&json!({}), json!({ "trap": true }))).await.expect_err("a fault");
    assert_eq!(fault.code, "plugin_trap");
    let mapped = host.transform(&digest, &map(&json!({}), json!({ "a": 1 }))).await.unwrap().result.unwrap();
    assert_eq!(mapped, json!({ "mapped": { "a": 1 } }));
}

#[tokio::test]
async fn a_component_of_the_other_kind_or_of_none_is_missing() {
    let host = host();
    let (step, mapper) =
        (served(&host, guests::hostile()).await, served(&host, guests::moody_mapper()).await);
    assert_eq!(fault(&host, &Digest::of(b"never seen"), &mode("fine", 0)).await, ("plugin_missing", false));
    assert!(host.call_step(&mapper, &mode("fine", 0)).await.is_err());
    assert!(host.transform(&step, &map(&json!({}), json!({}))).await.is_err());
}

#[tokio::test]
async fn a_flood_of_log_lines_is_cut() {
    let host = host();
    let digest = served(&host, guests::hostile()).await;
    let (captured, guard) = Captured::begin();
    let answer = output(&host, &digest, &mode("log", 500)).await;
    drop(guard);
    assert_eq!(answer, json!(1), "the call itself goes well");
    let text = captured.text();
    let (lines, bytes) = (text.lines().count(), text.matches('x').count());
    assert!((50..=65).contains(&lines), "{lines} lines");
    assert!(bytes <= 64 << 10, "{bytes} bytes");
    assert!(
        text.lines()
            .all(|line| line.contains("tenant=\"default\"") && line.contains("instance=\"instance\""))
    );
    assert!(
        text.lines().last().is_some_and(|line| line.contains("cut=true")),
        "the last line says that it was cut"
    );
}

#[tokio::test]
async fn a_hundred_megabytes_of_log_are_cut() {
    let host = host();
    let digest = served(&host, guests::hostile()).await;
    let (captured, guard) = Captured::begin();
    let answer = output(&host, &digest, &mode("shout", 100)).await;
    drop(guard);
    assert_eq!(answer, json!(1), "the call itself goes well");
    let text = captured.text();
    assert!(text.len() < 70 << 10, "{} bytes", text.len());
    assert_eq!(text.matches("cut=true").count(), 1, "one line says that it was cut");
}
