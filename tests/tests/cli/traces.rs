//! Traces over OTLP: a small collector takes them; one that is away hurts nobody.

use stepwell_tests::collector::{Span, collector};
use stepwell_tests::command::{Host, eventually, http};

use crate::support::{complete, folder, instance_in, poll, start_jira};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

#[tokio::test]
async fn spans_arrive_with_their_parents_and_go_on_with_the_task() {
    let (endpoint, spans) = collector().await;
    let data = folder();
    let host = Host::on_sqlite(&data, &["--otlp", &endpoint]).await;
    start_jira(&host).await;
    let other = poll(&host.url).await;
    complete(&host.url, other["id"].as_str().unwrap()).await;

    let answer = http()
        .post(host.at("/api/v1/workflows/jira/instances"))
        .header("traceparent", format!("00-{TRACE}-{CALLER}-01"))
        .json(
            &serde_json::json!({ "context": { "projectKey": "A", "ticketTitle": "b", "description": "c" } }),
        )
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 201);
    let id = answer.json::<serde_json::Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    let task = poll(&host.url).await;
    let handed = task["traceparent"].as_str().unwrap_or_default();
    assert!(handed.starts_with(&format!("00-{TRACE}-")), "{task}");
    complete(&host.url, task["id"].as_str().unwrap()).await;
    instance_in(&host.url, &id, "completed").await;

    // The request is a child of the caller's span; the plugin's decision and the commit are below the request.
    eventually("the spans of the start", || async {
        let spans: Vec<Span> =
            spans.lock().unwrap().iter().filter(|span| span.trace == TRACE).cloned().collect();
        let request = spans.iter().find(|span| span.parent == CALLER)?;
        let below = |name| spans.iter().any(|span| span.parent == request.id && span.name == name);
        (below("plugin") && below("commit")).then_some(())
    })
    .await;
    host.stop().await;
    let spans = spans.lock().unwrap();
    assert!(spans.iter().all(|span| !span.name.is_empty() && span.id.len() == 16), "{spans:?}");
}

#[tokio::test]
async fn the_last_spans_are_sent_before_the_end() {
    let (endpoint, spans) = collector().await;
    let data = folder();
    let host = Host::on_sqlite(&data, &["--otlp", &endpoint]).await;
    let path = host.at("/api/v1/workflows");
    let header = format!("00-{TRACE}-{CALLER}-01");
    assert_eq!(http().get(path).header("traceparent", header).send().await.unwrap().status(), 200);
    host.stop().await;
    assert!(spans.lock().unwrap().iter().any(|span| span.trace == TRACE), "{spans:?}");
}

#[tokio::test]
async fn a_collector_that_is_away_hurts_nobody() {
    let data = folder();
    let host = Host::on_sqlite(&data, &["--otlp", "http://127.0.0.1:1"]).await;
    let id = start_jira(&host).await;
    let task = poll(&host.url).await;
    complete(&host.url, task["id"].as_str().unwrap()).await;
    instance_in(&host.url, &id, "completed").await;
    host.stop().await;
}
