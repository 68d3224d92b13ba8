//! The plugin's logic, natively: the examples, the ids in the request, and what is refused.

mod examples;

use serde_json::{Value, json};
use stepwell_sdk::bindings::step::exports::stepwell::plugin::step::Guest as _;
use stepwell_sdk::step::Adapter;
use stepwell_sdk::{
    Context, Effect, Event, HttpRequest, HttpResult, Message, Outcome, PluginError, Transition,
};

use crate::WaitEvents;

const NOW_MS: u64 = 1_767_225_600_000;

fn context(config: &Value) -> Context {
    Context {
        tenant: "default".into(),
        workflow: "w".into(),
        instance: "exec-1".into(),
        step: "s".into(),
        attempt: 1,
        seq: 0,
        now: NOW_MS,
        seed: 0,
        config: config.to_string(),
        extra: json!({ "correlationId": "corr-1", "traceparent": "00-trace" }).to_string(),
    }
}

fn start(config: &Value) -> Result<Transition, String> {
    Adapter::<WaitEvents>::start(context(config), "{}".into()).map_err(|error| match error {
        PluginError::InvalidConfig(text) => text,
        other => format!("{other:?}"),
    })
}

fn tell(config: &Value, before: &Transition, event: Event) -> Transition {
    let context = Context { seq: 1, ..context(config) };
    Adapter::<WaitEvents>::on_event(context, before.state.clone(), event).expect("an answer")
}

fn came(name: &str, payload: &Value) -> Event {
    Event::MessageReceived(Message {
        key: name.into(),
        name: "t".into(),
        correlation: Some("corr-1".into()),
        payload: payload.to_string(),
        headers: Vec::new(),
    })
}

fn answer(status: u16, body: &str) -> Event {
    Event::HttpResponse(HttpResult {
        key: "api_call".into(),
        status,
        headers: Vec::new(),
        body: body.as_bytes().to_vec(),
    })
}

fn request(transition: &Transition) -> HttpRequest {
    let call = transition.effects.iter().find_map(|effect| match effect {
        Effect::HttpCall(request) => Some(request.clone()),
        _ => None,
    });
    call.expect("a request")
}

/// The row that the host keeps.
fn row(transition: &Transition) -> Value {
    let wait = transition.effects.iter().find_map(|effect| match effect {
        Effect::Custom(item) if item.kind == "wait-state" => serde_json::from_str(&item.payload).ok(),
        _ => None,
    });
    wait.unwrap_or(Value::Null)
}

fn output(transition: &Transition) -> Value {
    match &transition.outcome {
        Outcome::Completed(output) => serde_json::from_str(output).expect("JSON"),
        other => panic!("not completed: {other:?}"),
    }
}

fn timers(transition: &Transition) -> Vec<(String, u64)> {
    let timer = |effect: &Effect| match effect {
        Effect::SetTimer(timer) => Some((timer.key.clone(), timer.at - NOW_MS)),
        _ => None,
    };
    transition.effects.iter().filter_map(timer).collect()
}

fn failed(transition: &Transition) -> (String, Value) {
    match &transition.outcome {
        Outcome::Failed(failure) => {
            (failure.code.clone(), serde_json::from_str(&failure.details).expect("JSON"))
        }
        other => panic!("not failed: {other:?}"),
    }
}

#[test]
fn both_ids_are_put_into_body_and_headers_under_the_configured_names() {
    let both =
        request(&start(&json!({ "apiCall": { "url": "https://a.org/x", "body": { "a": 1 } } })).unwrap());
    let body: Value = serde_json::from_slice(&both.body).unwrap();
    assert_eq!(body, json!({ "a": 1, "execution_id": "exec-1", "correlation_id": "corr-1" }));
    assert_eq!((both.method.as_str(), both.url.as_str()), ("POST", "https://a.org/x"));
    let header = |request: &HttpRequest, name: &str| {
        request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    assert_eq!(header(&both, "X-Execution-Id").as_deref(), Some("exec-1"));
    assert_eq!(header(&both, "X-Correlation-Id").as_deref(), Some("corr-1"));
    assert_eq!(header(&both, "traceparent").as_deref(), Some("00-trace"));
    assert_eq!(header(&both, "Content-Type").as_deref(), Some("application/json"));

    let other = request(
        &start(&json!({ "apiCall": {
        "url": "u", "method": "PUT", "headers": { "x-corr": "stale", "Content-Type": "text/json" },
        "body": "{\"data\":{\"b\":2}}", "correlationIdField": "data.corr", "executionIdField": "",
        "correlationIdHeader": "X-Corr", "executionIdHeader": "",
    } }))
        .unwrap(),
    );
    assert_eq!(String::from_utf8(other.body.clone()).unwrap(), r#"{"data":{"b":2,"corr":"corr-1"}}"#);
    assert_eq!(header(&other, "X-Corr").as_deref(), Some("corr-1"));
    assert_eq!(header(&other, "x-corr"), None, "its own header is replaced, not doubled");
    assert_eq!(header(&other, "X-Execution-Id"), None);
    assert_eq!(other.method, "PUT");

    let get = request(&start(&json!({ "apiCall": { "url": "u", "method": "GET" } })).unwrap());
    assert!(get.body.is_empty());
    let text = request(&start(&json!({ "apiCall": { "url": "u", "body": "plain" } })).unwrap());
    assert_eq!(text.body, b"plain");
}

#[test]
fn the_answer_counts_only_if_the_node_says_so() {
    let callback = json!({ "apiCall": { "url": "u" } });
    let begun = start(&callback).unwrap();
    assert_eq!(row(&begun)["listeners"][0]["source"], "callback");
    let accepted = tell(&callback, &begun, answer(202, "{}"));
    assert_eq!((accepted.outcome, accepted.state), (Outcome::Waiting, begun.state.clone()));
    let sync = json!({ "apiCall": { "url": "u", "response": "sync" } });
    let begun = start(&sync).unwrap();
    assert_eq!(row(&begun)["listeners"][0]["source"], "response");
    let done = tell(&sync, &begun, answer(200, r#"{"n":1}"#));
    assert_eq!(output(&done)["api_response"], json!({ "n": 1 }));
    assert_eq!(output(&tell(&sync, &begun, answer(204, "")))["api_response"], "");
    for (status, why) in [(400, "answered with 400"), (0, "given up")] {
        let (code, _) = failed(&tell(&sync, &begun, answer(status, "no route")));
        assert_eq!(code, "api_call_failed", "{why}");
    }
}

#[test]
fn a_call_that_fails_is_an_event_that_cannot_come() {
    let config = json!({
        "apiCall": { "url": "u" }, "kafkaEvent": { "topic": "t" }, "aggregationStrategy": "any",
    });
    let begun = start(&config).unwrap();
    let missed = tell(&config, &begun, answer(500, ""));
    assert_eq!(missed.outcome, Outcome::Waiting);
    assert_eq!(row(&missed)["listeners"][0]["closed"], true);
    let done = output(&tell(&config, &missed, came("kafka_event", &json!(7))));
    assert_eq!((&done["kafka_event"], &done["api_response"]), (&json!(7), &Value::Null));
    let late = tell(&config, &missed, came("api_response", &json!(1)));
    assert_eq!((late.outcome, late.state), (Outcome::Waiting, missed.state), "it was closed");
}

#[test]
fn single_events_have_times_of_their_own() {
    let config = json!({
        "apiCall": { "url": "u", "timeout": 10 }, "kafkaEvent": { "topic": "t", "timeout": "1m", "required": false },
        "timeout": 60, "onTimeout": "continue",
    });
    let begun = start(&config).unwrap();
    assert_eq!(timers(&begun), [("timeout".into(), 60_000), ("timeout/api_response".into(), 10_000)]);
    let fired = tell(&config, &begun, Event::TimerFired("timeout/api_response".into()));
    let (code, details) = failed(&fired);
    assert_eq!(code, "wait_timeout");
    assert_eq!(details["missingEvents"], json!(["api_response", "kafka_event"]));
    assert_eq!(row(&fired)["status"], "failed");
    let usual = start(&json!({ "kafkaEvent": { "topic": "t" } })).unwrap();
    assert_eq!(timers(&usual), [("timeout".into(), 300_000)], "300 seconds are the default of both");
}

#[test]
fn any_number_of_named_events_some_of_which_are_enough() {
    let config = json!({
        "events": [
            { "name": "paid", "source": "callback", "hmac": { "secret": "~s~" } },
            { "name": "packed", "source": "kafka", "topic": "stock", "filter": { "type": "packed" } },
            { "name": "approved", "source": "message", "message": "approval", "correlation": "order-7" },
            { "name": "ignored", "source": "callback", "enabled": false },
        ],
        "aggregationStrategy": "count", "count": 2,
    });
    let begun = start(&config).unwrap();
    let listeners = row(&begun)["listeners"].clone();
    assert_eq!(listeners.as_array().map(Vec::len), Some(3));
    assert_eq!(listeners[0]["hmac"], json!({ "secret": "~s~", "header": "X-Signature" }));
    assert_eq!(listeners[1]["filter"], json!({ "type": "packed" }));
    let subscribed = begun.effects.iter().any(|effect| {
        matches!(effect, Effect::Subscribe(to) if to.key == "approved" && to.name == "approval"
            && to.correlation.as_deref() == Some("order-7"))
    });
    assert!(subscribed);
    let first = tell(&config, &begun, came("approved", &json!("yes")));
    assert_eq!(first.outcome, Outcome::Waiting);
    let again = tell(&config, &first, came("approved", &json!("twice")));
    assert_eq!((again.outcome, &again.state), (Outcome::Waiting, &first.state), "a repeat changes nothing");
    let done = output(&tell(&config, &first, came("packed", &json!({ "n": 1 }))));
    assert_eq!(done["receivedEvents"], json!(["approved", "packed"]));
    assert_eq!((&done["approved"], &done["paid"]), (&json!("yes"), &Value::Null));
}

#[test]
fn fire_and_forget_sends_and_goes_on() {
    for config in [
        json!({ "apiCall": { "url": "u" }, "aggregationStrategy": "none" }),
        json!({ "apiCall": { "url": "u", "required": false }, "aggregationStrategy": "required_only" }),
    ] {
        let gone = start(&config).unwrap();
        assert_eq!(request(&gone).url, "u");
        assert_eq!(output(&gone)["status"], "completed", "{config}");
        assert_eq!(timers(&gone), []);
    }
    let nothing = start(&json!({})).unwrap();
    assert_eq!((nothing.effects.len(), output(&nothing)["receivedEvents"].clone()), (0, json!([])));
}

#[test]
fn a_part_is_marked_with_a_warning() {
    let config = json!({
        "apiCall": { "url": "u" }, "kafkaEvent": { "topic": "t" }, "onTimeout": "continue_with_partial",
    });
    let begun = start(&config).unwrap();
    let first = tell(&config, &begun, came("kafka_event", &json!(1)));
    let over = tell(&config, &first, Event::TimerFired("timeout".into()));
    let part = output(&over);
    assert_eq!((&part["status"], &part["missingEvents"]), (&json!("partial"), &json!(["api_response"])));
    assert!(part["warning"].as_str().is_some_and(|text| text.contains("api_response")), "{part}");
    assert_eq!(row(&over)["warning"], part["warning"]);
}

#[test]
fn nonsense_is_refused_by_the_name_of_the_field() {
    for (config, sentence) in [
        (json!({ "apiCall": {} }), "apiCall: `url`"),
        (json!({ "kafkaEvent": {} }), "kafkaEvent: `topic`"),
        (json!({ "timeout": 0 }), "timeout: is 0"),
        (json!({ "apiCall": { "url": "u", "timeout": "soon" } }), "apiCall.timeout: "),
        (json!({ "aggregationStrategy": "custom" }), "requiredEvents: "),
        (
            json!({ "apiCall": { "url": "u" }, "aggregationStrategy": "custom", "requiredEvents": ["kafka_event"] }),
            "requiredEvents: `kafka_event`",
        ),
        (json!({ "aggregationStrategy": "count" }), "count: "),
        (json!({ "apiCall": { "url": "u" }, "aggregationStrategy": "count", "count": 2 }), "count: 2 of 1"),
        (json!({ "events": [{ "name": "status", "source": "callback" }] }), "events: `status`"),
        (
            json!({ "events": [{ "name": "a", "source": "callback" }, { "name": "a", "source": "callback" }] }),
            "events: two",
        ),
        (json!({ "events": [{ "name": "a", "source": "message", "filter": {} }] }), "events[0]: a message"),
        (
            json!({ "apiCall": { "url": "u", "response": "sync", "hmac": { "secret": "s" } } }),
            "apiCall: only a callback",
        ),
        (json!({ "correlationId": "" }), "correlationId: "),
    ] {
        let refusal = start(&config).expect_err("it is refused");
        assert!(refusal.starts_with(sentence), "{config}: {refusal}");
    }
}

#[test]
fn what_is_not_known_yet_is_not_refused() {
    let config = json!({
        "apiCall": { "url": null, "timeout": null, "body": null }, "kafkaEvent": { "topic": null, "filter": { "a": null } },
        "aggregationStrategy": "custom", "requiredEvents": [null], "correlationId": null,
    });
    start(&config).expect("nothing is wrong");
}
