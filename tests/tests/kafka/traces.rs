//! A record belongs to the trace that its header names, and so does all that is done with it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stepwell_tests::collector::{Span, collector};
use stepwell_tests::command::{Host, eventually, http};
use stepwell_tests::kafka;

use crate::setting::Setting;
use crate::waiting::workflow;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn traceparent(span: &str) -> String {
    format!("00-{TRACE}-{span}-01")
}

async fn post(host: &Host, path: &str, headers: &[(&str, &str)], body: &Value) -> Value {
    let request = http().post(host.at(path)).json(body);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let answer = request.send().await.unwrap();
    assert!(answer.status().is_success(), "{answer:?}");
    answer.json().await.unwrap()
}

/// How often it is tried: a collector loses what a machine that is short of time did not send it within its limit.
const TRIES: u32 = 3;
/// How long the spans of one try may take.
const SPANS_SECONDS_MAX: u64 = 20;

/// Who sends what, each with a span of its own.
const STARTER: &str = "00f067aa0ba902b1";
const CALLER: &str = "00f067aa0ba902b2";
const WRITER: &str = "00f067aa0ba902b3";

/// The start, the callback and the record of one instance, each sent by another service, are one trace.
#[tokio::test]
async fn start_callback_and_record_are_one_trace() {
    let Some(broker) = kafka::shared().unwrap() else { return };
    let setting = Setting::new(broker).unwrap();
    let topic = setting.topic("in");
    setting.records.make(&topic, 1).await.unwrap();
    let (endpoint, spans) = collector().await;
    let data = tempfile::tempdir().unwrap();
    let kafka = ["--kafka", &broker.address(), "--kafka-group", &setting.name, "--otlp", &endpoint];
    let host = Host::on_sqlite(&data, &kafka).await;
    let source = http().post(host.at("/api/v1/workflows?key=both")).body(workflow(&topic, true)).send().await;
    assert_eq!(source.unwrap().status(), 201);

    let process = format!("process {topic}");
    let wanted = [
        (STARTER, "POST /api/v1/workflows/{key}/instances"),
        (CALLER, "POST /api/internal/callbacks/external-service"),
        (WRITER, &process),
    ];
    let all_there = || wanted.iter().all(|(sender, name)| is_whole(&spans.lock().unwrap(), sender, name));
    for _ in 0..TRIES {
        tell_one_instance(&host, &setting, &topic).await;
        let end = Instant::now() + Duration::from_secs(SPANS_SECONDS_MAX);
        while !all_there() && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        if all_there() {
            return host.stop().await;
        }
    }
    let came: Vec<Span> = spans.lock().unwrap().iter().filter(|span| span.trace == TRACE).cloned().collect();
    panic!("not all of {wanted:?} have a plugin's span below them: {came:#?}");
}

/// Whether a span of that name is a child of its sender's, and a plugin's decision is below it.
fn is_whole(spans: &[Span], sender: &str, name: &str) -> bool {
    let mut ours = spans.iter().filter(|span| span.trace == TRACE);
    let below = |parent: &Span| {
        spans.iter().any(|span| span.trace == TRACE && span.parent == parent.id && span.name == "plugin")
    };
    ours.any(|span| span.parent == sender && span.name == name && below(span))
}

async fn tell_one_instance(host: &Host, setting: &Setting<'_>, topic: &str) {
    let from_starter = traceparent(STARTER);
    let start = [("traceparent", from_starter.as_str())];
    let started = post(host, "/api/v1/workflows/both/instances", &start, &json!({ "context": {} })).await;
    let execution = started["id"].as_str().unwrap();
    let waits = eventually("it waits", || async {
        let answer = http().get(host.at(&format!("/api/v1/wait-states?instance={execution}"))).send().await;
        answer.ok()?.json::<Value>().await.ok()?["items"].get(0).cloned()
    })
    .await;
    let correlation = waits["correlationId"].as_str().unwrap();
    let from_caller = traceparent(CALLER);
    let ids = [
        ("X-Execution-Id", execution),
        ("X-Correlation-Id", correlation),
        ("traceparent", from_caller.as_str()),
    ];
    post(host, "/api/internal/callbacks/external-service", &ids, &json!({ "done": true })).await;
    let record = json!({ "execution_id": execution, "correlation_id": correlation }).to_string();
    let from_writer = traceparent(WRITER);
    let headers = [("traceparent", from_writer.as_str())];
    setting.records.write(topic, "k", record.as_bytes(), &headers).await.unwrap();
}
