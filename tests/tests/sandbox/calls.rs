//! Plugins that behave: the bundled ones, the example, and what a call is given.

use serde_json::{Value, json};
use stepwell::domain::effect::Effect;
use stepwell::domain::event::Event;
use stepwell::domain::plugin::StepVerb;
use stepwell::domain::transition::Outcome;
use stepwell::engine::port::Plugins as _;
use stepwell_tests::guests;

use crate::kit::{Captured, NOW_MS, host, map, mode, output, served, start};

#[tokio::test]
async fn the_bundled_plugins_serve_their_names() {
    let host = host();
    assert_eq!(host.load_bundled().await.unwrap().len(), stepwell::plugin::bundled().len());
    let names = ["DELAY", "EXTERNAL_TASK", "REMINDER", "TIMER", "WAIT_EVENTS", "wait_events"];
    assert_eq!(host.step_type_names(), names);
    let task = host.step_type("EXTERNAL_TASK").unwrap();
    let config = json!({ "taskType": "t", "timeout": "10m", "input": { "a": 1 } });
    assert!(host.check_config(&task.digest, &config).is_empty());
    let transition = host.call_step(&task.digest, &start(&config, json!({}))).await.unwrap().result.unwrap();
    assert_eq!(transition.outcome, Outcome::Waiting);
    match transition.effects.as_slice() {
        [Effect::CreateTask(spec)] => {
            assert_eq!(
                (spec.key.as_str(), spec.topic.as_str(), &spec.input),
                ("task", "t", &json!({ "a": 1 }))
            );
            assert_eq!((spec.timeout_ms, spec.lock_ms, spec.retry.max_attempts), (Some(600_000), 300_000, 3));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_configuration_is_checked_against_the_schema() {
    let host = host();
    host.load_bundled().await.unwrap();
    let task = host.step_type("EXTERNAL_TASK").unwrap();
    let mistakes = |config: Value| -> Vec<String> {
        host.check_config(&task.digest, &config).into_iter().map(|(pointer, _)| pointer).collect()
    };
    assert_eq!(mistakes(json!({})), [""]);
    assert_eq!(mistakes(json!({ "taskType": "t", "retries": "many" })), ["/retries"]);
    assert_eq!(mistakes(json!({ "taskType": "t", "timeout": "soon" })), ["/timeout"]);
    assert_eq!(mistakes(json!({ "taskType": "t", "heartbeat": { "maxMissed": 2 } })), ["/heartbeat"]);
    assert_eq!(mistakes(json!({ "taskType": "t", "colour": "red" })), [""]);
    for good in [
        json!(600),
        json!(0.5),
        json!("600s"),
        json!("1h30m"),
        json!("500ms"),
        json!("PT10M"),
        json!("P1DT2H"),
    ] {
        assert!(mistakes(json!({ "taskType": "t", "timeout": good })).is_empty(), "{good}");
    }
}

#[tokio::test]
async fn the_mapper_takes_paths_of_both_kinds() {
    let host = host();
    host.load_bundled().await.unwrap();
    let mapper = host.mapper("jsonpath").unwrap();
    let input = json!({ "result": { "ticketId": "OPS-1", "tags": ["a", "bb"], "price": 7 } });
    let config = json!({
        "id": "$.result.ticketId", "tags": "$.result.tags[*]", "long": "$.result.tags[?length(@) > 1]",
        "match": "$.result.tags[?match(@, 'b+')]", "dotted": "result.tags.0", "none": "$.nothing",
    });
    let mapped = host.transform(&mapper.digest, &map(&config, input)).await.unwrap().result.unwrap();
    let expected = json!({ "id": "OPS-1", "tags": ["a", "bb"], "long": "bb", "match": "bb", "dotted": "a", "none": null });
    assert_eq!(mapped, expected);
    let bad = map(&json!({ "ticket": "$.[" }), json!({}));
    let refusal = host.transform(&mapper.digest, &bad).await.unwrap().result.unwrap_err();
    assert_eq!(refusal.code, "invalid_config");
    assert!(refusal.message.contains("ticket") && refusal.message.contains("$.["), "{refusal}");
}

#[tokio::test]
async fn the_example_greets_now_and_later() {
    let host = host();
    let digest = served(&host, guests::greeting()).await;
    let config = json!({ "name": "Eva", "language": "cs", "afterSeconds": 2 });
    let transition = host.call_step(&digest, &start(&config, json!({}))).await.unwrap().result.unwrap();
    let timer = Effect::SetTimer { key: "wait".into(), at_ms: NOW_MS + 2_000, timer_type: "DELAY".into() };
    assert_eq!(transition.effects, [timer]);
    let mut later = start(&config, json!({}));
    later.verb =
        StepVerb::OnEvent { state: transition.state, event: Event::TimerFired { key: "wait".into() } };
    assert_eq!(output(&host, &digest, &later).await, json!({ "greeting": "Ahoj, Eva!" }));
}

#[tokio::test]
async fn the_courier_s_effects_arrive_whole() {
    let host = host();
    let digest = served(&host, guests::courier()).await;
    let config = json!({
        "name": "paid", "correlation": "42", "timeout": 60, "publish": { "name": "invoice", "payload": { "n": 1 } },
    });
    let transition = host.call_step(&digest, &start(&config, json!({}))).await.unwrap().result.unwrap();
    let labels: Vec<&str> = transition.effects.iter().map(Effect::label).collect();
    assert_eq!(labels, ["publish", "subscribe", "set-timer"]);
    let mut call = start(&config, json!({}));
    let message = Event::MessageReceived {
        key: "in".into(),
        name: "paid".into(),
        correlation: Some("42".into()),
        payload: json!({ "sum": 9 }),
        headers: vec![],
    };
    call.verb = StepVerb::OnEvent { state: transition.state, event: message };
    let expected = json!({ "name": "paid", "messages": [{ "sum": 9 }], "fired": 0 });
    assert_eq!(output(&host, &digest, &call).await, expected);
}

#[tokio::test]
async fn the_same_call_gives_the_same_answer_on_another_host() {
    let call = mode("burn", 10_000);
    let run = async || {
        let host = host();
        let digest = served(&host, guests::hostile()).await;
        let answer = host.call_step(&digest, &call).await.unwrap();
        (answer.result.unwrap(), answer.usage)
    };
    let (first, second) = (run().await, run().await);
    assert_eq!(first, second, "to the last unit of fuel");
    assert!(first.1.fuel > 10_000 && first.1.memory_bytes > 0);
}

#[tokio::test]
async fn a_call_knows_its_context_and_nothing_else() {
    let host = host();
    let digest = served(&host, guests::hostile()).await;
    assert_eq!(output(&host, &digest, &mode("context", 0)).await, json!([NOW_MS, 42, 2, 3]));
}

#[tokio::test]
async fn wasi_tells_the_call_s_time_and_draws_from_its_seed() {
    let host = host();
    let digest = served(&host, guests::wasi_probe()).await;
    let probe = async |seed| {
        let mut call = map(&json!({}), json!({}));
        call.context.seed = seed;
        host.transform(&digest, &call).await.unwrap().result.unwrap()
    };
    let (captured, guard) = Captured::begin();
    let (one, again, other) = (probe(1).await, probe(1).await, probe(2).await);
    drop(guard);
    assert_eq!(one, again);
    assert_ne!(one["random"], other["random"]);
    assert_eq!(one["wall_ms"], NOW_MS);
    assert_eq!(one["monotonic_ns"], NOW_MS * 1_000_000);
    assert_eq!(one["printed"], true);
    assert!(captured.text().contains("printed by a guest"), "{}", captured.text());
    assert_eq!((&one["variables"], &one["arguments"]), (&json!([]), &json!([])));
}
