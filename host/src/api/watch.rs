//! An instance, watched: its state and its timeline as they happen, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use uuid::Uuid;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::{Id, Query};
use super::instances::{InstanceView, not_found};
use super::view::EntryView;
use crate::dispatch::hub::Watch;
use crate::domain::instance::Instance;
use crate::domain::page::PageRequest;
use crate::domain::{InstanceId, TenantId};

/// The time between two looks where no hint came: a lost hint costs so much.
const SWEEP: Duration = Duration::from_secs(5);
/// The time between two comments that keep proxies from closing the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events that may wait for a slow client.
const EVENTS_BUFFERED: usize = 32;
/// Lines read at once.
const LINES: u32 = 100;

/// Watches an instance: `status` events have its state, `timeline` events its journal, and `end` says that it
/// has ended. After a lost connection, `Last-Event-ID` goes on where it was.
#[utoipa::path(get, path = "/api/v1/instances/{id}/events", tag = "instances",
    params(("id" = Uuid, Path, description = "The instance"),
        ("Last-Event-ID" = Option<String>, Header, description = "The last line that was seen")),
    responses((status = 200, description = "Server-sent events", content_type = "text/event-stream", body = String),
        (status = 404, body = ProblemBody), (status = 429, body = ProblemBody)))]
pub(super) async fn events(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Id(id): Id<InstanceId>,
    headers: HeaderMap,
    query: Query,
) -> Result<Sse<KeepAliveStream>, Problem> {
    let seen = headers.get("last-event-id").and_then(|value| value.to_str().ok()).map(ToOwned::to_owned);
    let after = seen.or_else(|| query.text("lastEventId")).and_then(|text| text.parse().ok());
    // Watch first, then read: what changes in between is seen.
    let watch = state.node.hub.watch(&tenant, id)?;
    state.node.store.instance(&tenant, id).await?.ok_or_else(|| not_found(id))?;
    let (sender, receiver) = mpsc::channel(EVENTS_BUFFERED);
    let watcher = Watcher { state, tenant, id, after, version: None, sender };
    tokio::spawn(watcher.run(watch));
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

type KeepAliveStream = axum::response::sse::KeepAliveStream<ReceiverStream<Result<Event, Infallible>>>;

struct Watcher {
    state: AppState,
    tenant: TenantId,
    id: InstanceId,
    after: Option<Uuid>,
    version: Option<i64>,
    sender: mpsc::Sender<Result<Event, Infallible>>,
}

/// Why a watch ends: the instance ended or is gone, the client left, the host stops, the database is away.
struct Over;

impl Watcher {
    async fn run(mut self, mut watch: Watch) {
        let stopping = self.state.node.stopping.clone();
        while self.tell_news().await.is_ok() {
            tokio::select! {
                () = watch.changed() => {}
                () = tokio::time::sleep(SWEEP) => {}
                () = self.sender.closed() => return,
                () = stopping.cancelled() => return,
            }
        }
    }

    async fn tell_news(&mut self) -> Result<(), Over> {
        // The state is read before the lines: once it says `completed`, every line is there to be read.
        let instance =
            self.state.node.store.instance(&self.tenant, self.id).await.map_err(|_| Over)?.ok_or(Over)?;
        self.tell_lines().await?;
        if self.version != Some(instance.version) {
            self.version = Some(instance.version);
            self.tell_status("status", &instance).await?;
        }
        if instance.status.ended() {
            self.tell_status("end", &instance).await?;
            return Err(Over);
        }
        Ok(())
    }

    async fn tell_lines(&mut self) -> Result<(), Over> {
        loop {
            let page = PageRequest { after: self.after, limit: LINES };
            let mut lines =
                self.state.node.store.journal(&self.tenant, self.id, &page).await.map_err(|_| Over)?;
            let more = lines.len() > LINES as usize;
            lines.truncate(LINES as usize);
            for line in lines {
                let id = line.id;
                self.send("timeline", Some(id), &EntryView::new(line, false)).await?;
                self.after = Some(id);
            }
            if !more {
                return Ok(());
            }
        }
    }

    async fn tell_status(&self, name: &str, instance: &Instance) -> Result<(), Over> {
        self.send(name, None, &InstanceView::from(instance)).await
    }

    async fn send(&self, name: &str, id: Option<Uuid>, data: &impl Serialize) -> Result<(), Over> {
        let mut event = Event::default().event(name).data(serde_json::to_string(data).map_err(|_| Over)?);
        if let Some(id) = id {
            event = event.id(id.to_string());
        }
        self.sender.send(Ok(event)).await.map_err(|_| Over)
    }
}
