//! The W3C trace context that requests and records carry.

use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// The name of the header that carries it.
pub(crate) const TRACEPARENT: &str = "traceparent";

/// `00-TRACE-SPAN-FLAGS`, as the W3C recommendation has it.
pub(crate) fn parse(text: &str) -> Option<SpanContext> {
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

/// The same as text.
pub(crate) fn format(context: &SpanContext) -> String {
    format!("00-{}-{}-{:02x}", context.trace_id(), context.span_id(), context.trace_flags().to_u8())
}

/// Makes a span a part of a trace that began elsewhere.
pub(crate) fn continue_with(span: &tracing::Span, context: SpanContext) {
    // Who records no spans has none to link.
    let _ = span.set_parent(Context::new().with_remote_span_context(context));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_taken_only_if_it_is_one() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(format(&parse(good).unwrap()), good);
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
