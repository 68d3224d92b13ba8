//! A span, a log line and a measurement for each request, and the trace that it belongs to.

use std::time::Instant;

use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::trace::TraceContextExt as _;
use tracing::Instrument as _;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use super::AppState;
use super::error::Problem;
use crate::metrics as names;
use crate::telemetry::context;

/// The W3C trace context that a request hands on.
#[derive(Clone, Debug)]
pub(super) struct Trace(pub(super) String);

impl FromRequestParts<AppState> for Trace {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Problem> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self(fresh())))
    }
}

/// The middleware around every route.
pub(super) async fn observe(mut request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("unmatched", MatchedPath::as_str).to_owned();
    let method = request.method().as_str().to_owned();
    let incoming = request
        .headers()
        .get(context::TRACEPARENT)
        .and_then(|value| value.to_str().ok())
        .and_then(context::parse);
    let span = tracing::info_span!(
        "request",
        route,
        method,
        trace_id = tracing::field::Empty,
        tenant = tracing::field::Empty,
        status = tracing::field::Empty,
        otel.kind = "server",
        otel.name = format!("{method} {route}"),
    );
    if let Some(context) = &incoming {
        context::continue_with(&span, context.clone());
    }
    let here = span.context().span().span_context().clone();
    let trace = match (here.is_valid(), &incoming) {
        (true, _) => Trace(context::format(&here)),
        (false, Some(context)) => Trace(context::format(context)),
        (false, None) => Trace(fresh()),
    };
    span.record("trace_id", trace.0.get(3..35).unwrap_or_default());
    request.extensions_mut().insert(trace);

    let started = Instant::now();
    let response = next.run(request).instrument(span.clone()).await;
    let status = response.status().as_u16();
    let seconds = started.elapsed().as_secs_f64();
    span.record("status", status);
    span.in_scope(|| tracing::debug!(status, seconds, "answered"));
    metrics::histogram!(
        names::HTTP_SECONDS,
        "route" => route, "method" => method_label(&method), "status" => status.to_string()
    )
    .record(seconds);
    response
}

/// Methods are chosen by clients: only those that we know become labels.
fn method_label(method: &str) -> &'static str {
    ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other")
}

/// A trace of our own where nobody brought one and none is recorded: logs and workers still have an id to share.
fn fresh() -> String {
    format!("00-{:032x}-{:016x}-00", rand::random::<u128>().max(1), rand::random::<u64>().max(1))
}
