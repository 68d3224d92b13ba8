//! Following an instance: the server's stream says that something happened, a query says what.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use reqwest::{Method, Response};
use serde_json::Value;

use super::Error;
use super::client::{Client, query, segment};
use super::error::Exit;
use super::print::{Output, cell, rows};

/// How long to go on without a wake-up before asking anyway.
const SWEEP: Duration = Duration::from_secs(5);
/// How long a server may be away while it is watched (a restart) before this gives up.
const AWAY_MAX: Duration = Duration::from_secs(60);
/// The wait before asking a server again that was away.
const AGAIN: Duration = Duration::from_millis(300);

/// Prints the timeline as it happens, until the instance ends. An error unless it completed.
pub(super) async fn until_ended(id: &str, client: &Client, output: &Output) -> Result<(), Error> {
    let instance = follow(id, client, output).await?;
    if output.json {
        output.value(&instance);
    }
    let status = cell(&instance, "/status");
    output.line(format!("instance {id}: {status}"));
    if status == "completed" {
        output.value_for_people(instance.get("context").unwrap_or(&Value::Null));
        return Ok(());
    }
    let why = cell(&instance, "/error/message");
    Err(Error::refused(&format!("instance_{status}"), format!("the instance is {status}: {why}")))
}

/// Prints the timeline as it happens; the instance as it ended.
pub(super) async fn follow(id: &str, client: &Client, output: &Output) -> Result<Value, Error> {
    let mut view = View { id, client, output, seen: HashSet::new(), after: None, spinner: spinner(output) };
    let mut away_since: Option<Instant> = None;
    let mut first = true;
    loop {
        match view.follow_stream().await {
            Ok(Some(instance)) => return Ok(instance),
            Ok(None) => {
                away_since = None;
                tokio::time::sleep(AGAIN).await;
            }
            Err(error) if first || error.exit != Exit::Unavailable => return Err(error),
            Err(error) => {
                let since = *away_since.get_or_insert_with(Instant::now);
                if since.elapsed() > AWAY_MAX {
                    return Err(error);
                }
                tokio::time::sleep(AGAIN).await;
            }
        }
        first = false;
    }
}

/// A line of the timeline.
pub(super) fn timeline_line(entry: &Value) -> String {
    let at = cell(entry, "/at");
    // Only the time of day: the date is in `instance show`.
    let time = at.split('T').nth(1).map(|time| time.trim_end_matches('Z').to_owned()).unwrap_or(at);
    let step = cell(entry, "/stepId");
    let step = if step.is_empty() { "-".to_owned() } else { step };
    let note = cell(entry, "/note");
    format!("  {time}  {step}  {}  {note}", cell(entry, "/kind")).trim_end().to_owned()
}

/// What has been shown so far.
struct View<'a> {
    id: &'a str,
    client: &'a Client,
    output: &'a Output,
    seen: HashSet<String>,
    after: Option<String>,
    spinner: ProgressBar,
}

impl View<'_> {
    /// Follows one stream until it ends (`None`) or the instance does.
    async fn follow_stream(&mut self) -> Result<Option<Value>, Error> {
        let path = format!("/api/v1/instances/{}", segment(self.id));
        // First the stream, then the query: what happens between the two is not missed.
        let request = self.client.request(Method::GET, &format!("{path}/events"));
        let mut stream = self.client.open(request.header("accept", "text/event-stream")).await?;
        loop {
            let instance = self.client.get(&path, &[]).await?;
            self.print_news(&path).await?;
            self.spinner.set_message(format!("{} is {}", self.id, cell(&instance, "/status")));
            if matches!(cell(&instance, "/status").as_str(), "completed" | "failed" | "cancelled") {
                self.spinner.finish_and_clear();
                return Ok(Some(instance));
            }
            if !woken(&mut stream).await {
                return Ok(None);
            }
        }
    }

    async fn print_news(&mut self, path: &str) -> Result<(), Error> {
        loop {
            let parameters = query(&[("after", self.after.clone())]);
            let page = self.client.get(&format!("{path}/timeline"), &parameters).await?;
            for entry in rows(&page) {
                let id = cell(entry, "/id");
                if self.seen.insert(id.clone()) {
                    self.spinner.suspend(|| {
                        if self.output.json {
                            self.output.value(entry);
                        } else {
                            self.output.line(timeline_line(entry));
                        }
                    });
                }
                self.after = Some(id);
            }
            if page.get("next").is_none_or(Value::is_null) {
                return Ok(());
            }
        }
    }
}

/// Waits for anything on the stream, or a while; false if the stream has ended.
async fn woken(stream: &mut Response) -> bool {
    match tokio::time::timeout(SWEEP, stream.chunk()).await {
        Ok(Ok(Some(_))) | Err(_) => true,
        Ok(Ok(None) | Err(_)) => false,
    }
}

/// Turns on a terminal, and is not there elsewhere.
fn spinner(output: &Output) -> ProgressBar {
    if !output.colour {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}
