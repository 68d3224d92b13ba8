//! Events from outside: the same door as Kafka's, for whoever has no Kafka; and what was refused.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::{Operator, Sender};
use super::error::{Problem, ProblemBody};
use super::extract::{Name, Query, Raw};
use super::trace::Trace;
use super::view::PageView;
use crate::domain::Timestamp;
use crate::domain::incoming::{EventSource, IncomingEvent, Receipt, RejectedEvent};

/// The longest topic, key and id of an event.
const NAME_BYTES_MAX: usize = 249;

/// What became of an event. It is committed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventReceipt {
    /// Events of waits that took it.
    delivered: usize,
    /// Events of waits that had come before: nothing was changed.
    repeated: usize,
    /// Executions that it is kept for, until their wait begins.
    kept: usize,
    /// Instances that it started, also if the same event had done so before.
    started: Vec<Uuid>,
    /// Why it was refused; it is in the list of refused events then.
    rejected: Option<&'static str>,
    /// The same for people.
    detail: Option<&'static str>,
}

impl From<Receipt> for EventReceipt {
    fn from(receipt: Receipt) -> Self {
        Self {
            delivered: receipt.delivered,
            repeated: receipt.repeated,
            kept: receipt.kept,
            started: receipt.started.into_iter().map(|id| id.0).collect(),
            rejected: receipt.rejected.map(|rejection| rejection.label()),
            detail: receipt.rejected.map(|rejection| rejection.sentence()),
        }
    }
}

/// Takes an event of a topic in: the body is its payload, any JSON. It goes to the waits that it is for, and starts the
/// workflows that it triggers, once for each `Idempotency-Key`.
#[utoipa::path(post, path = "/api/v1/events/{topic}", tag = "events",
    params(("topic" = String, Path, description = "The topic"),
        ("Idempotency-Key" = Option<String>, Header, description = "Tells a repeat from a new event"),
        ("X-Event-Key" = Option<String>, Header, description = "The key of the event")),
    request_body = Value,
    responses((status = 200, body = EventReceipt), (status = 400, body = ProblemBody)))]
pub(super) async fn send(
    State(state): State<AppState>,
    Sender(tenant): Sender,
    Name(topic): Name,
    trace: Trace,
    headers: HeaderMap,
    body: Raw,
) -> Result<JsonAnswer<EventReceipt>, Problem> {
    if topic.is_empty() || topic.len() > NAME_BYTES_MAX {
        return Err(Problem::field("topic", format!("has 1 to {NAME_BYTES_MAX} bytes")));
    }
    let event = IncomingEvent {
        tenant: Some(tenant),
        source: EventSource::Http,
        topic,
        key: header(&headers, "x-event-key")?,
        headers: told(&headers, &trace),
        payload: body.value,
        id: header(&headers, "idempotency-key")?,
    };
    let mut receipts = state.node.engine.receive_events(vec![(event, tracing::Span::current())]).await;
    let receipt = receipts.pop().ok_or_else(Problem::internal)??;
    Ok(JsonAnswer(receipt.into()))
}

/// An event that was refused.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RejectedEvent)]
pub(super) struct RejectedView {
    id: Uuid,
    /// http, kafka or callback.
    source: String,
    topic: String,
    /// A stable code.
    reason: String,
    detail: String,
    execution_id: Option<String>,
    correlation_id: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl From<RejectedEvent> for RejectedView {
    fn from(row: RejectedEvent) -> Self {
        Self {
            id: row.id,
            source: row.source,
            topic: row.topic,
            reason: row.reason,
            detail: row.detail,
            execution_id: row.execution_id,
            correlation_id: row.correlation_id,
            created_at: row.created_at,
        }
    }
}

/// Lists events that were refused, newest first: the last 10,000 of a week.
#[utoipa::path(get, path = "/api/v1/events/rejected", tag = "events",
    params(("after" = Option<String>, Query, description = "The `next` of the page before"),
        ("limit" = Option<u32>, Query, description = "Rows, 50 if absent")),
    responses((status = 200, body = PageView<RejectedView>)))]
pub(super) async fn rejected(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    query: Query,
) -> Result<JsonAnswer<PageView<RejectedView>>, Problem> {
    let page = query.page(state.node.limits.page_rows_max)?;
    let rows = state.node.store.rejected_events(&tenant, &page).await?;
    Ok(JsonAnswer(PageView::of(rows, page.limit, |row| row.id, Into::into)))
}

/// A header's text, if it is there and can be kept.
pub(super) fn header(headers: &HeaderMap, name: &str) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    if text.is_empty() || text.len() > NAME_BYTES_MAX {
        return Err(Problem::field(name, format!("has 1 to {NAME_BYTES_MAX} printable characters")));
    }
    Ok(Some(text.to_owned()))
}

/// Words in the names of headers that authenticate their sender: no step hears those.
const SECRETIVE: [&str; 5] = ["auth", "token", "secret", "api-key", "password"];

/// What a step hears of a request's headers: its type, its trace, its signature, and the sender's own.
pub(super) fn told(headers: &HeaderMap, trace: &Trace) -> Vec<(String, String)> {
    let own = headers.iter().filter(|(name, _)| {
        let name = name.as_str();
        let heard = name == "content-type" || name.starts_with("x-") || name.contains("signature");
        heard && name != super::access::TENANT_HEADER && !SECRETIVE.iter().any(|word| name.contains(word))
    });
    let own = own.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
    own.take(50).chain([("traceparent".to_owned(), trace.0.clone())]).collect()
}
