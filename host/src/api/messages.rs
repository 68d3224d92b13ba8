//! Messages from outside, for steps that wait for them.

use std::collections::BTreeMap;

use axum::Json as JsonAnswer;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::AppState;
use super::access::Sender;
use super::error::{Problem, ProblemBody};
use super::extract::Json;
use crate::engine::IncomingMessage;

/// A message.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct MessageBody {
    /// What steps wait for.
    name: String,
    /// Which conversation it belongs to.
    correlation: Option<String>,
    /// Its content.
    #[serde(default)]
    payload: Value,
    /// More about it.
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// Whom a message reached.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Delivered {
    /// How many subscriptions matched.
    delivered: usize,
}

/// Delivers a message to every subscription that matches.
#[utoipa::path(post, path = "/api/v1/messages", tag = "messages", request_body = MessageBody,
    responses((status = 200, body = Delivered), (status = 400, body = ProblemBody)))]
pub(super) async fn send(
    State(state): State<AppState>,
    Sender(tenant): Sender,
    Json(body): Json<MessageBody>,
) -> Result<JsonAnswer<Delivered>, Problem> {
    if body.name.is_empty() {
        return Err(Problem::field("name", "is empty; name the message that steps wait for"));
    }
    let message = IncomingMessage {
        name: body.name,
        correlation: body.correlation,
        payload: body.payload,
        headers: body.headers.into_iter().collect(),
    };
    let delivered = state.node.engine.message(&tenant, message).await?;
    Ok(JsonAnswer(Delivered { delivered }))
}
