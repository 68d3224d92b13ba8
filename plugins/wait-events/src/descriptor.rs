//! What the step type says of itself.

use serde_json::{Value, json};

/// The descriptor.
pub(crate) fn descriptor() -> Value {
    json!({
        "types": ["wait_events", "WAIT_EVENTS"],
        "version": env!("CARGO_PKG_VERSION"),
        "title": "Wait for events",
        "category": "Logic",
        "icon": "hourglass_empty",
        "state_version": 1,
        "effects": ["http-call", "set-timer", "cancel-timer", "subscribe", "custom"],
        "tried_at_deploy": true,
        "config_schema": config_schema(),
        "output_schema": {
            "type": "object",
            "required": ["status", "receivedEvents", "missingEvents", "correlationId", "executionId"],
            "properties": {
                "status": { "enum": ["completed", "partial"] },
                "api_response": { "title": "What the called service said" },
                "kafka_event": { "title": "What came by the topic" },
                "receivedEvents": { "type": "array", "items": { "type": "string" } },
                "missingEvents": { "type": "array", "items": { "type": "string" } },
                "correlationId": { "type": "string" },
                "executionId": { "type": "string" },
                "warning": { "type": "string" },
            },
        },
        "examples": [{
            "name": "nothing to wait for",
            "config": { "apiCall": { "enabled": false }, "kafkaEvent": { "enabled": false } },
            "input": {},
            "expect": { "outcome": { "kind": "completed" }, "effects": [] },
        }],
    })
}

fn config_schema() -> Value {
    let timeout = json!({ "type": ["number", "string"], "title": "Time-out", "default": 300,
        "description": "Seconds, or text such as 10m." });
    let filter = json!({ "type": "object", "title": "Filter",
        "description": "From path to value, or to a list of values: what must stand in the event." });
    let flag = |title: &str, usual: bool| json!({ "type": "boolean", "title": title, "default": usual });
    let text = |title: &str, usual: &str| json!({ "type": "string", "title": title, "default": usual });
    let hmac = json!({
        "type": "object", "title": "Signature", "additionalProperties": false, "required": ["secret"],
        "description": "HMAC-SHA-256 over the body; a callback without it is refused.",
        "properties": { "secret": { "type": "string", "minLength": 1 }, "header": {
            "type": "string", "title": "Header", "default": "X-Signature", "pattern": "^[Xx]-|[Ss]ignature",
        } },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "apiCall": {
                "type": "object", "title": "API call", "additionalProperties": false,
                "properties": {
                    "enabled": flag("Enabled", true), "url": { "type": "string", "title": "Address" },
                    "method": { "enum": ["GET", "POST", "PUT", "DELETE"], "default": "POST" },
                    "headers": { "type": "object", "title": "Headers" },
                    "body": { "type": ["object", "string", "null"], "title": "Body" },
                    "correlationIdField": text("Field of the correlation id", "correlation_id"),
                    "correlationIdHeader": text("Header of the correlation id", "X-Correlation-Id"),
                    "executionIdField": text("Field of the execution id", "execution_id"),
                    "executionIdHeader": text("Header of the execution id", "X-Execution-Id"),
                    "timeout": timeout, "required": flag("Required", true),
                    "response": { "enum": ["callback", "sync"], "default": "callback", "title": "Which response counts" },
                    "requestTimeout": { "type": ["number", "string"], "title": "Time of one try", "default": 30 },
                    "retry": {
                        "type": "object", "title": "Tries", "additionalProperties": false,
                        "properties": { "maxAttempts": { "type": "integer", "minimum": 1, "maximum": 20 },
                            "initialMs": { "type": "integer", "minimum": 10 }, "maxMs": { "type": "integer", "minimum": 10 } },
                    },
                    "filter": filter, "hmac": hmac,
                },
            },
            "kafkaEvent": {
                "type": "object", "title": "Kafka event", "additionalProperties": false,
                "properties": {
                    "enabled": flag("Enabled", true), "topic": { "type": "string", "title": "Topic", "minLength": 1, "maxLength": 249 },
                    "correlationIdField": text("Field of the correlation id", "correlation_id"),
                    "executionIdField": text("Field of the execution id", "execution_id"),
                    "filter": filter, "timeout": timeout, "required": flag("Required", true),
                },
            },
            "events": {
                "type": "array", "title": "More events", "maxItems": 50,
                "items": {
                    "type": "object", "additionalProperties": false, "required": ["name", "source"],
                    "properties": {
                        "name": { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,99}$" },
                        "source": { "enum": ["callback", "kafka", "message"] },
                        "enabled": flag("Enabled", true), "topic": { "type": "string", "minLength": 1, "maxLength": 249 },
                        "message": { "type": "string", "minLength": 1 }, "correlation": { "type": "string", "minLength": 1 },
                        "correlationIdField": text("Field of the correlation id", "correlation_id"),
                        "executionIdField": text("Field of the execution id", "execution_id"),
                        "filter": filter, "timeout": timeout, "required": flag("Required", true), "hmac": hmac,
                    },
                },
            },
            "aggregationStrategy": {
                "enum": ["all", "any", "required_only", "custom", "count", "none"], "default": "all", "title": "Strategy",
            },
            "requiredEvents": { "type": "array", "items": { "type": "string" }, "title": "Required events" },
            "count": { "type": "integer", "minimum": 1, "title": "How many" },
            "timeout": timeout,
            "onTimeout": { "enum": ["fail", "continue", "continue_with_partial"], "default": "fail", "title": "On time-out" },
            "correlationId": { "type": ["string", "number"], "title": "Correlation id",
                "description": "Instead of one that is made for each step." },
        },
    })
}
