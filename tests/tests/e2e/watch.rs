//! Watching an instance over server-sent events.

use anyhow::{Context as _, Result};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, one_task};

/// A stream of events.
struct Events {
    bytes: BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    text: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Event {
    name: String,
    id: Option<String>,
    data: Value,
}

impl Events {
    async fn of(client: &Client, id: &str, verb: &str) -> Result<Self> {
        let response = client.request("GET", &format!("/api/v1/instances/{id}/{verb}")).send().await?;
        anyhow::ensure!(response.status() == 200, "{}", response.status());
        let kind = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        anyhow::ensure!(kind.is_some_and(|kind| kind.starts_with("text/event-stream")), "{kind:?}");
        Ok(Self { bytes: response.bytes_stream().boxed(), text: String::new() })
    }

    /// The next event; none when the stream has ended.
    async fn next(&mut self) -> Result<Option<Event>> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let event = parse(block)?;
                self.text = rest.to_owned();
                if let Some(event) = event {
                    return Ok(Some(event));
                }
                continue;
            }
            match self.bytes.next().await {
                Some(part) => self.text.push_str(std::str::from_utf8(&part?)?),
                None => return Ok(None),
            }
        }
    }

    /// Every event up to the end of the stream.
    async fn rest(mut self) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await? {
            events.push(event);
        }
        Ok(events)
    }
}

/// A block of lines; none if it is only a comment.
fn parse(block: &str) -> Result<Option<Event>> {
    let field = |name: &str| {
        block
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(|value| value.trim().to_owned()))
    };
    let Some(data) = field("data") else { return Ok(None) };
    let name = field("event").context("an event has a name")?;
    Ok(Some(Event { name, id: field("id"), data: serde_json::from_str(&data)? }))
}

fn lines(events: &[Event]) -> Vec<String> {
    events.iter().filter(|event| event.name == "timeline").filter_map(|event| event.id.clone()).collect()
}

/// The stream shows where the instance stands, what happens to it, and ends with it; it can be taken up again.
async fn an_instance_is_watched_to_its_end(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    let id = client.start("one", json!({})).await?;
    let mut watch = Events::of(client, &id, "events").await?;
    let mut seen = Vec::new();
    loop {
        let event = watch.next().await?.context("the stream goes on")?;
        seen.push(event.clone());
        if event.name == "status" {
            assert_eq!(event.data["status"], "waiting");
            break;
        }
    }
    client.work("t", &json!({})).await?;
    seen.extend(watch.rest().await?);
    let last = seen.last().context("an event")?;
    assert_eq!((last.name.as_str(), &last.data["status"]), ("end", &json!("completed")));

    let timeline = client.get(&format!("/api/v1/instances/{id}/timeline")).await?.expect(200)?;
    let expected: Vec<String> = timeline["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|line| line["id"].as_str().map(ToOwned::to_owned))
        .collect();
    assert_eq!(lines(&seen), expected, "each line once, in order");

    let again = client.with("last-event-id", &expected[0]);
    let later = Events::of(&again, &id, "watch").await?.rest().await?;
    assert_eq!(lines(&later), expected[1..], "it goes on after the last line that was seen");
    host.stop().await;
    Ok(())
}

/// Two who watch see the same; a host that stops ends their streams.
async fn a_stopping_host_ends_its_streams(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    let id = client.start("one", json!({})).await?;
    let (first, second) =
        (Events::of(client, &id, "events").await?, Events::of(client, &id, "events").await?);
    let (first, second, ()) = tokio::join!(first.rest(), second.rest(), host.stop());
    let (first, second) = (first?, second?);
    assert!(first.iter().chain(&second).all(|event| event.name != "end"), "the instance goes on");
    Ok(())
}

stepwell_tests::on_both_databases!(an_instance_is_watched_to_its_end, a_stopping_host_ends_its_streams);
