//! Traces over OTLP: a small collector takes them; one that is away hurts nobody.

use std::sync::{Arc, Mutex};

use stepwell_tests::command::{Host, eventually, http};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{complete, folder, instance_in, poll, start_jira};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A span as it came over the wire.
#[derive(Clone, Debug)]
struct Span {
    trace: String,
    id: String,
    parent: String,
    name: String,
}

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

type Spans = Arc<Mutex<Vec<Span>>>;

async fn collector() -> (String, Spans) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let spans = Spans::default();
    let kept = Arc::clone(&spans);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let kept = Arc::clone(&kept);
            tokio::spawn(async move {
                if let Some(body) = take_request(stream).await {
                    kept.lock().unwrap().extend(decode(&body));
                }
            });
        }
    });
    (endpoint, spans)
}

/// Reads one POST to /v1/traces and answers it; the connection ends with it.
async fn take_request(mut stream: TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).to_lowercase();
    assert!(head.starts_with("post /v1/traces "), "{head}");
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|n| n.trim().parse().ok())?;
    while bytes.len() < head_end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await.ok()?;
    Some(bytes[head_end..head_end + length].to_vec())
}

/// The spans of an export: `resource_spans` (1), in it `scope_spans` (2), in it `spans` (2).
fn decode(body: &[u8]) -> Vec<Span> {
    let resources = fields(body).into_iter().filter(|(number, _)| *number == 1);
    let scopes = resources.flat_map(|(_, bytes)| fields(bytes)).filter(|(number, _)| *number == 2);
    let spans = scopes.flat_map(|(_, bytes)| fields(bytes)).filter(|(number, _)| *number == 2);
    spans.map(|(_, bytes)| span(bytes)).collect()
}

fn span(bytes: &[u8]) -> Span {
    let fields = fields(bytes);
    let field = |wanted: u64| {
        fields.iter().find(|(number, _)| *number == wanted).map_or(&[][..], |(_, bytes)| *bytes)
    };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Span {
        trace: hex(field(1)),
        id: hex(field(2)),
        parent: hex(field(4)),
        name: String::from_utf8_lossy(field(5)).into_owned(),
    }
}

/// The length-delimited fields of a protobuf message; others are stepped over.
fn fields(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        match key & 7 {
            0 => {
                varint(&mut bytes);
            }
            1 => bytes = &bytes[8..],
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                let (field, rest) = bytes.split_at(length);
                found.push((key >> 3, field));
                bytes = rest;
            }
            5 => bytes = &bytes[4..],
            other => panic!("not a protobuf wire type: {other}"),
        }
    }
    found
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}
