//! A record as it came, and the event that it is.

use crate::domain::TenantId;
use crate::domain::incoming::{EventSource, IncomingEvent};
use crate::telemetry::context::{self, TRACEPARENT};

/// A record of Kafka, as bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) topic: String,
    pub(super) partition: i32,
    pub(super) offset: i64,
    /// When it was written, in milliseconds since the Unix epoch, if it says so.
    pub(super) written_at_ms: Option<i64>,
    pub(super) key: Option<Vec<u8>>,
    pub(super) payload: Option<Vec<u8>>,
    pub(super) headers: Vec<(String, Vec<u8>)>,
}

/// What a record turned out to be.
#[derive(Debug)]
pub(super) enum Read {
    /// An event.
    Event(Box<IncomingEvent>),
    /// Nothing: a record without a body says that its key is gone, which is no event.
    Empty,
    /// It cannot be read, and why.
    Unreadable(String),
}

/// How records are read.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// Whose they are.
    pub(super) tenant: TenantId,
    /// The header that names another tenant.
    pub(super) tenant_header: Option<String>,
    /// The largest body.
    pub(super) payload_bytes_max: usize,
}

impl Record {
    /// What takes memory.
    pub(super) fn bytes(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        self.key.as_ref().map_or(0, Vec::len) + self.payload.as_ref().map_or(0, Vec::len) + headers
    }

    pub(super) fn source(&self) -> EventSource {
        EventSource::Kafka { partition: self.partition, offset: self.offset }
    }

    /// Reads it.
    pub(super) fn read(&self, reading: &Reading) -> Read {
        let Some(payload) = &self.payload else { return Read::Empty };
        if payload.len() > reading.payload_bytes_max {
            let (bytes, max) = (payload.len(), reading.payload_bytes_max);
            return Read::Unreadable(format!("it has {bytes} bytes; the limit is {max}"));
        }
        let tenant = match self.tenant(reading) {
            Ok(tenant) => tenant,
            Err(why) => return Read::Unreadable(why),
        };
        match serde_json::from_slice(payload) {
            Ok(payload) => Read::Event(Box::new(IncomingEvent {
                tenant: Some(tenant),
                source: self.source(),
                topic: self.topic.clone(),
                key: self.key.as_deref().and_then(text),
                headers: self
                    .headers
                    .iter()
                    .filter_map(|(name, value)| text(value).map(|value| (name.clone(), value)))
                    .collect(),
                payload,
                id: Some(self.id()),
            })),
            Err(error) => Read::Unreadable(format!("it is not JSON: {error}")),
        }
    }

    /// Whose it is. A header counts only where the operator has said so: whoever can write to a topic could else choose.
    pub(super) fn tenant(&self, reading: &Reading) -> Result<TenantId, String> {
        let Some(header) = &reading.tenant_header else { return Ok(reading.tenant.clone()) };
        // The last one counts, as everywhere in Kafka.
        let named = self.headers.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case(header));
        let Some((_, value)) = named else { return Ok(reading.tenant.clone()) };
        text(value)
            .and_then(|name| name.parse().ok())
            .ok_or_else(|| format!("its header `{header}` is no name of a tenant"))
    }

    /// What is done with it belongs to the trace that its header names.
    pub(super) fn span(&self) -> tracing::Span {
        let span = tracing::info_span!(
            "record",
            topic = self.topic,
            partition = self.partition,
            offset = self.offset,
            otel.kind = "consumer",
            otel.name = format!("process {}", self.topic),
        );
        let header = self.headers.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case(TRACEPARENT));
        if let Some(parent) = header.and_then(|(_, value)| context::parse(&text(value)?)) {
            context::continue_with(&span, parent);
        }
        span
    }

    /// The same each time that it comes. A topic that was made anew counts from zero again, so the time is in it.
    fn id(&self) -> String {
        let place = EventSource::kafka_id(&self.topic, self.partition, self.offset);
        match self.written_at_ms {
            Some(at) => format!("{place}/{at}"),
            None => place,
        }
    }
}

fn text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(payload: &str) -> Record {
        Record {
            topic: "orders".into(),
            partition: 1,
            offset: 7,
            written_at_ms: Some(5),
            key: Some(b"k".to_vec()),
            payload: Some(payload.as_bytes().to_vec()),
            headers: vec![("tenant".into(), b"acme".to_vec()), ("raw".into(), vec![0xff])],
        }
    }

    fn reading(tenant_header: Option<&str>) -> Reading {
        Reading {
            tenant: TenantId::default(),
            tenant_header: tenant_header.map(Into::into),
            payload_bytes_max: 1 << 10,
        }
    }

    #[test]
    fn a_record_is_an_event_with_an_id_of_its_own() {
        let Read::Event(event) = record(r#"{"a":1}"#).read(&reading(None)) else { panic!("an event") };
        assert_eq!(event.payload, serde_json::json!({ "a": 1 }));
        assert_eq!(event.tenant, Some(TenantId::default()), "a header that nobody asked for says nothing");
        assert_eq!(event.key.as_deref(), Some("k"));
        assert_eq!(event.headers, [("tenant".to_owned(), "acme".to_owned())]);
        let again = Record { written_at_ms: Some(6), ..record("{}") };
        assert_ne!(event.id, Some(again.id()), "a topic that was made anew");
    }

    #[test]
    fn a_header_names_the_tenant_only_where_it_may() {
        let tenant =
            |header, record: &Record| record.tenant(&reading(header)).map(|tenant| tenant.to_string());
        assert_eq!(tenant(Some("Tenant"), &record("{}")).as_deref(), Ok("acme"));
        assert_eq!(tenant(Some("other"), &record("{}")).as_deref(), Ok("default"));
        let mut bad = record("{}");
        bad.headers.push(("tenant".into(), b"no such / name".to_vec()));
        assert!(tenant(Some("tenant"), &bad).is_err());
        assert!(matches!(bad.read(&reading(Some("tenant"))), Read::Unreadable(_)));
    }

    #[test]
    fn what_is_no_event_is_told() {
        let unreadable = |record: Record| matches!(record.read(&reading(None)), Read::Unreadable(_));
        assert!(unreadable(record("{ not json")));
        assert!(unreadable(record("")));
        assert!(unreadable(record(&format!("\"{}\"", "x".repeat(2_000)))));
        assert!(unreadable(record(&format!("{}{}", "[".repeat(400), "]".repeat(400)))), "too deep");
        let gone = Record { payload: None, ..record("") };
        assert!(matches!(gone.read(&reading(None)), Read::Empty));
    }
}
