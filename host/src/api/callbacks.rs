//! Callbacks of services that steps have called: by both ids, or by a token that is all they need.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::AppState;
use super::access::Sender;
use super::error::{Problem, ProblemBody};
use super::events::{EventReceipt, header, told};
use super::extract::{Name, Query, Raw};
use super::trace::Trace;
use crate::domain::TenantId;
use crate::domain::incoming::{IncomingCallback, Receipt, Rejection};

const CORRELATION_HEADER: &str = "x-correlation-id";
const EXECUTION_HEADER: &str = "x-execution-id";
/// Names one of several events that callbacks bring.
const EVENT_HEADER: &str = "x-event-name";

/// Takes a callback in. Both ids stand in the headers, or as `execution_id` and `correlation_id` in the body. One that is
/// refused is told so with 200: the service has nothing to do better, and operators see it.
#[utoipa::path(post, path = "/api/internal/callbacks/external-service", tag = "events",
    params(("X-Correlation-Id" = Option<String>, Header, description = "As the request had it"),
        ("X-Execution-Id" = Option<String>, Header, description = "As the request had it"),
        ("X-Event-Name" = Option<String>, Header, description = "Which event it is, where callbacks bring several")),
    request_body = Value,
    responses((status = 200, body = EventReceipt), (status = 400, body = ProblemBody), (status = 401, body = ProblemBody)))]
pub(super) async fn external_service(
    State(state): State<AppState>,
    Sender(tenant): Sender,
    trace: Trace,
    headers: HeaderMap,
    body: Raw,
) -> Result<JsonAnswer<EventReceipt>, Problem> {
    let correlation_id = id(&headers, CORRELATION_HEADER, &body.value, "correlation_id")?;
    let execution_id = id(&headers, EXECUTION_HEADER, &body.value, "execution_id")?;
    take_in(&state, &tenant, (execution_id, correlation_id), None, &trace, &headers, body).await
}

/// Takes a callback in whose address has a step's token (`@{_execution.callbackPath}`): for services that cannot send ids
/// back. `?event=NAME` says which event it is, where callbacks bring several.
#[utoipa::path(post, path = "/api/v1/callbacks/{token}", tag = "events", security(()),
    params(("token" = String, Path, description = "The token"),
        ("event" = Option<String>, Query, description = "Which event it is")),
    request_body = Value,
    responses((status = 200, body = EventReceipt), (status = 400, body = ProblemBody), (status = 401, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 413, body = ProblemBody), (status = 422, body = ProblemBody),
        (status = 429, body = ProblemBody), (status = 503, body = ProblemBody)))]
pub(super) async fn by_token(
    State(state): State<AppState>,
    Name(token): Name,
    query: Query,
    trace: Trace,
    headers: HeaderMap,
    body: Raw,
) -> Result<JsonAnswer<EventReceipt>, Problem> {
    let Some(target) = state.node.engine.callback_target(&token).await? else {
        let detail = "nobody waits for a callback with this token; it is wrong, or its wait is gone";
        return Err(Problem::not_found("callback_not_found", detail));
    };
    let (tenant, ids) = (target.tenant().clone(), target.ids());
    take_in(&state, &tenant, ids, query.text("event"), &trace, &headers, body).await
}

async fn take_in(
    state: &AppState,
    tenant: &TenantId,
    (execution_id, correlation_id): (String, String),
    event: Option<String>,
    trace: &Trace,
    headers: &HeaderMap,
    body: Raw,
) -> Result<JsonAnswer<EventReceipt>, Problem> {
    let event = match event {
        Some(event) => Some(event),
        None => header(headers, EVENT_HEADER)?,
    };
    let callback = IncomingCallback {
        execution_id,
        correlation_id,
        event,
        headers: told(headers, trace),
        payload: body.value,
        body: body.bytes.into(),
    };
    let receipt: Receipt = state.node.engine.callback(tenant, callback).await?;
    if receipt.rejected == Some(Rejection::BadSignature) {
        let detail =
            "the signature is missing or wrong: sign the body with the secret that the workflow names";
        return Err(Problem::new(StatusCode::UNAUTHORIZED, "bad_signature", detail));
    }
    Ok(JsonAnswer(receipt.into()))
}

/// An id from a header, or else from the body.
fn id(headers: &HeaderMap, name: &str, body: &Value, field: &str) -> Result<String, Problem> {
    if let Some(id) = header(headers, name)? {
        return Ok(id);
    }
    match body.get(field) {
        Some(Value::String(id)) if !id.is_empty() && id.len() <= 255 => Ok(id.clone()),
        None | Some(Value::Null) => {
            Err(Problem::field(field, format!("is missing: send it so, or in the header {name}")))
        }
        Some(_) => Err(Problem::field(field, "is text of 1 to 255 bytes")),
    }
}
