//! Which events a wait hears, case by case.

use serde_json::json;

use super::*;
use crate::domain::{StepExecutionId, TenantId, Timestamp};

const EXECUTION: &str = "0197b1c4-8d7a-7c3e-9a40-2f6f4f0e0a01";

fn fields(pairs: &[(&str, &str)]) -> Vec<TopicFields> {
    let row = |(correlation, execution): &(&str, &str)| TopicFields {
        tenant: TenantId::default(),
        topic: "t".into(),
        correlation_field: (*correlation).into(),
        execution_field: (*execution).into(),
    };
    pairs.iter().map(row).collect()
}

fn usual() -> Vec<TopicFields> {
    fields(&[("correlation_id", "execution_id")])
}

#[test]
fn both_ids_are_needed_and_are_text() {
    let execution: InstanceId = EXECUTION.parse().unwrap();
    let check = |payload: Value, fields: &[TopicFields], expected: Ids| {
        assert_eq!(ids(&payload, fields), expected, "{payload}");
    };
    let found = || Ids::Found(vec![(execution, "c".into())]);
    check(json!({ "correlation_id": "c", "execution_id": EXECUTION }), &usual(), found());
    let nested = fields(&[("data.corr", "data.ids.0")]);
    check(json!({ "data": { "corr": "c", "ids": [EXECUTION] } }), &nested, found());
    let both = fields(&[("correlation_id", "execution_id"), ("corr", "exec")]);
    check(json!({ "corr": "c", "exec": EXECUTION, "correlation_id": 7 }), &both, found());
    for (payload, rejection) in [
        (json!({}), Rejection::Unclaimed),
        (json!("text"), Rejection::Unclaimed),
        (json!(null), Rejection::Unclaimed),
        (json!([[[[]]]]), Rejection::Unclaimed),
        (json!({ "correlation_id": null, "execution_id": null }), Rejection::Unclaimed),
        (json!({ "execution_id": EXECUTION }), Rejection::MissingCorrelationId),
        (json!({ "correlation_id": "c" }), Rejection::MissingExecutionId),
        (json!({ "correlation_id": 7, "execution_id": EXECUTION }), Rejection::WrongType),
        (json!({ "correlation_id": "", "execution_id": EXECUTION }), Rejection::WrongType),
        (json!({ "correlation_id": { "a": 1 }, "execution_id": EXECUTION }), Rejection::WrongType),
        (json!({ "correlation_id": "x".repeat(256), "execution_id": EXECUTION }), Rejection::WrongType),
        (json!({ "correlation_id": "c", "execution_id": true }), Rejection::WrongType),
        (json!({ "correlation_id": "c", "execution_id": "7" }), Rejection::UnknownExecution),
    ] {
        check(payload, &usual(), Ids::Flawed(rejection));
    }
}

fn wait() -> WaitState {
    let listener = |value: Value| serde_json::from_value::<Listener>(value).unwrap();
    WaitState {
        id: StepExecutionId::new(),
        tenant: TenantId::default(),
        execution_id: EXECUTION.parse().unwrap(),
        node_id: "n".into(),
        attempt: 1,
        correlation_id: "c".into(),
        aggregation_strategy: "all".into(),
        required_events: Vec::new(),
        enabled_events: Vec::new(),
        api_call_enabled: true,
        kafka_event_enabled: true,
        api_response_data: None,
        kafka_event_data: None,
        event_data: None,
        received_events: Vec::new(),
        listeners: vec![
            listener(json!({ "name": "api_response", "source": "callback" })),
            listener(json!({
                "name": "kafka_event", "source": "kafka", "topic": "t", "filter": { "type": "done" },
            })),
            listener(
                json!({ "name": "nested", "source": "kafka", "topic": "u", "correlationIdField": "data.c",
                "executionIdField": "data.e" }),
            ),
            listener(json!({ "name": "answer", "source": "response" })),
            listener(json!({ "name": "message", "source": "message", "topic": "t" })),
        ],
        status: WaitStatus::Waiting,
        warning: None,
        resumed_at: None,
        resumed_by: None,
        version: 1,
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
        expires_at: Timestamp::from_millis(0),
    }
}

fn letter(topic: &str, payload: Value) -> Letter {
    let source = if topic.is_empty() { "callback" } else { "http" };
    Letter {
        source: source.into(),
        topic: topic.into(),
        key: None,
        headers: Vec::new(),
        payload,
        event: None,
        body: None,
    }
}

fn done() -> Value {
    json!({ "correlation_id": "c", "execution_id": EXECUTION, "type": "done" })
}

#[test]
fn a_wait_hears_what_comes_by_its_way_and_passes_its_filter() {
    let wait = wait();
    let check = |letter: &Letter, expected: Result<&str, Rejection>| {
        let heard = match hear(&wait, letter) {
            Hearing::Heard(heard) => {
                Ok(heard.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(" "))
            }
            Hearing::Refused(rejection) => Err(rejection),
            other => panic!("{other:?}"),
        };
        assert_eq!(heard.as_deref().map_err(|rejection| *rejection), expected, "{letter:?}");
    };
    check(&letter("", json!({})), Ok("api_response"));
    check(&Letter { event: Some("api_response".into()), ..letter("", json!({})) }, Ok("api_response"));
    check(&Letter { event: Some("kafka_event".into()), ..letter("", json!({})) }, Err(Rejection::NotEnabled));
    check(&letter("t", done()), Ok("kafka_event"));
    check(&letter("u", json!({ "data": { "c": "c", "e": EXECUTION.to_uppercase() } })), Ok("nested"));
    check(&letter("u", done()), Err(Rejection::NotEnabled));
    check(&letter("elsewhere", done()), Err(Rejection::NotEnabled));
    let failed = json!({ "correlation_id": "c", "execution_id": EXECUTION, "type": "failed" });
    check(&letter("t", failed), Err(Rejection::Filtered));
    let mut large = done();
    large["blob"] = "x".repeat(WAIT_BYTES_MAX).into();
    check(&letter("t", large), Err(Rejection::TooLarge));
}

#[test]
fn a_wait_that_is_over_hears_nothing_and_a_repeat_is_told_as_one() {
    let mut wait = wait();
    wait.listeners[1].closed = true;
    assert_eq!(hear(&wait, &letter("t", done())), Hearing::Refused(Rejection::EventExpired));
    wait.status = WaitStatus::Timeout;
    assert_eq!(hear(&wait, &letter("", json!({}))), Hearing::Refused(Rejection::WaitOver));
    wait.received_events.push("kafka_event".into());
    assert_eq!(hear(&wait, &letter("t", done())), Hearing::Repeated(1));
}
