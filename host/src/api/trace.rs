//! A span, a log line and a measurement for each request, and the trace that it belongs to.

use std::time::Instant;

use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState};
use tracing::Instrument as _;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use super::AppState;
use super::error::Problem;
use crate::metrics as names;

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
    let incoming = request.headers().get("traceparent").and_then(|value| value.to_str().ok()).and_then(parse);
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
        let _ = span.set_parent(opentelemetry::Context::new().with_remote_span_context(context.clone()));
    }
    let here = span.context().span().span_context().clone();
    let trace = match (here.is_valid(), &incoming) {
        (true, _) => Trace(format_context(&here)),
        (false, Some(context)) => Trace(format_context(context)),
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

/// `00-TRACE-SPAN-FLAGS`, as the W3C recommendation has it.
fn parse(text: &str) -> Option<SpanContext> {
    let mut parts = text.trim().split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, digits: usize| {
        text.len() == digits
            && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    if !hex(version, 2) || version == "ff" || !hex(trace, 32) || !hex(span, 16) || !hex(flags, 2) {
        return None;
    }
    let context = SpanContext::new(
        TraceId::from_hex(trace).ok()?,
        SpanId::from_hex(span).ok()?,
        TraceFlags::new(u8::from_str_radix(flags, 16).ok()? & 1),
        true,
        TraceState::default(),
    );
    context.is_valid().then_some(context)
}

fn format_context(context: &SpanContext) -> String {
    format!("00-{}-{}-{:02x}", context.trace_id(), context.span_id(), context.trace_flags().to_u8())
}

/// A trace of our own where nobody brought one and none is recorded: logs and workers still have an id to share.
fn fresh() -> String {
    format!("00-{:032x}-{:016x}-00", rand::random::<u128>().max(1), rand::random::<u64>().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_taken_only_if_it_is_one() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(format_context(&parse(good).unwrap()), good);
        assert!(parse(&fresh()).is_some());
        for bad in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        ] {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }
}
