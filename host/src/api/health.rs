//! What operators and their machines ask a host: is it alive, is it ready, what are its figures and limits.

use std::time::Duration;

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::CONTENT_TYPE;
use serde_json::{Map, Value, json};

use super::AppState;
use super::access::Caller;
use super::error::{Problem, ProblemBody};

/// How long the database may take to answer.
const PING: Duration = Duration::from_secs(2);

/// Whether the process is alive, and how many polls wait on it.
#[utoipa::path(get, path = "/healthz", tag = "operations", security(()), responses((status = 200, body = Object)))]
pub(super) async fn healthz(State(state): State<AppState>) -> JsonAnswer<Value> {
    let node = &state.node;
    JsonAnswer(json!({
        "status": "ok",
        "node": node.node_id,
        "version": env!("CARGO_PKG_VERSION"),
        "parkedPolls": node.desk.parked(),
    }))
}

/// Whether the host can take work: its database answers, and it is not stopping. Whether Kafka answers is told, too; a host
/// that waits for it can do all else.
#[utoipa::path(get, path = "/readyz", tag = "operations", security(()),
    responses((status = 200, body = Object), (status = 503, body = ProblemBody)))]
pub(super) async fn readyz(State(state): State<AppState>) -> Result<JsonAnswer<Value>, Problem> {
    if state.node.draining() {
        return Err(Problem::unavailable("draining", "this host is stopping; ask another one"));
    }
    match tokio::time::timeout(PING, state.node.store.ping()).await {
        Ok(Ok(())) => {
            let mut answer = json!({ "status": "ready", "node": state.node.node_id });
            if let Some(kafka) = &state.node.kafka {
                answer["kafka"] = json!(if kafka.is_up() { "up" } else { "down" });
            }
            Ok(JsonAnswer(answer))
        }
        Ok(Err(error)) => Err(error.into()),
        Err(_) => {
            let detail = format!("the database did not answer within {} seconds", PING.as_secs());
            Err(Problem::unavailable("database_unavailable", detail))
        }
    }
}

/// Figures in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", tag = "operations", security(()),
    responses((status = 200, body = String, content_type = "text/plain"),
        (status = 404, body = ProblemBody, description = "This host records none")))]
pub(super) async fn metrics(
    State(state): State<AppState>,
) -> Result<([(HeaderName, &'static str); 1], String), Problem> {
    let handle = state.metrics.as_ref();
    let handle = handle.ok_or_else(|| Problem::not_found("metrics_off", "this host records no metrics"))?;
    handle.run_upkeep();
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], handle.render()))
}

/// Every limit of this host, with its unit in its name.
#[utoipa::path(get, path = "/api/v1/limits", tag = "operations", responses((status = 200, body = Object)))]
pub(super) async fn limits(State(state): State<AppState>, _: Caller) -> JsonAnswer<Value> {
    let limits = serde_json::to_value(&state.node.limits).unwrap_or_default();
    let Value::Object(limits) = limits else { return JsonAnswer(limits) };
    JsonAnswer(Value::Object(
        limits.into_iter().map(|(name, value)| (camel_case(&name), value)).collect::<Map<_, _>>(),
    ))
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}
