//! A record belongs to the trace that its header names, and so does all that is done with it.

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

    let (starter, caller, writer) = ("00f067aa0ba902b1", "00f067aa0ba902b2", "00f067aa0ba902b3");
    let from_starter = traceparent(starter);
    let start = [("traceparent", from_starter.as_str())];
    let started = post(&host, "/api/v1/workflows/both/instances", &start, &json!({ "context": {} })).await;
    let execution = started["id"].as_str().unwrap();
    let waits = eventually("it waits", || async {
        let answer = http().get(host.at(&format!("/api/v1/wait-states?instance={execution}"))).send().await;
        answer.ok()?.json::<Value>().await.ok()?["items"].get(0).cloned()
    })
    .await;
    let correlation = waits["correlationId"].as_str().unwrap();
    let from_caller = traceparent(caller);
    let ids = [
        ("X-Execution-Id", execution),
        ("X-Correlation-Id", correlation),
        ("traceparent", from_caller.as_str()),
    ];
    post(&host, "/api/internal/callbacks/external-service", &ids, &json!({ "done": true })).await;
    let record = json!({ "execution_id": execution, "correlation_id": correlation }).to_string();
    let from_writer = traceparent(writer);
    let headers = [("traceparent", from_writer.as_str())];
    setting.records.write(&topic, "k", record.as_bytes(), &headers).await.unwrap();

    // Each is a child of its sender's span, and the plugin's decision is below it.
    for (sender, name) in [
        (starter, "POST /api/v1/workflows/{key}/instances"),
        (caller, "POST /api/internal/callbacks/external-service"),
        (writer, &format!("process {topic}")),
    ] {
        eventually(&format!("the spans below {name}"), || async {
            let spans = spans.lock().unwrap();
            let ours: Vec<&Span> = spans.iter().filter(|span| span.trace == TRACE).collect();
            let first = ours.iter().find(|span| span.parent == sender && span.name == name)?;
            ours.iter().any(|span| span.parent == first.id && span.name == "plugin").then_some(())
        })
        .await;
    }
    host.stop().await;
}
