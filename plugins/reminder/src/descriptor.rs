//! What the step type says of itself.

use serde_json::{Value, json};

/// The descriptor.
pub(crate) fn descriptor() -> Value {
    json!({
        "types": ["REMINDER"],
        "version": env!("CARGO_PKG_VERSION"),
        "title": "Reminder",
        "category": "Time",
        "icon": "notifications",
        "state_version": 1,
        "effects": ["notify", "set-timer"],
        "accepts": ["notified", "step-ended", "timer-cancelled"],
        "tried_at_deploy": true,
        "config_schema": config_schema(),
        "output_schema": {
            "type": "object",
            "required": ["sent", "lastSentAt", "endedBy"],
            "properties": {
                "sent": { "type": "integer", "title": "How many went out" },
                "lastSentAt": { "type": ["string", "null"], "format": "date-time", "title": "When the last one went out" },
                "endedBy": { "enum": ["max", "until", "cancelled"], "title": "What ended it" },
            },
        },
        "examples": [{
            "name": "tell Slack",
            "config": { "channel": "SLACK", "message": "Deployed." },
            "input": {},
            "expect": {
                "outcome": {
                    "kind": "completed",
                    "output": { "sent": 1, "lastSentAt": "2026-01-01T00:00:00.000Z", "endedBy": "max" },
                },
                "effects": [{
                    "kind": "notify", "key": "reminder-1", "channel": "SLACK", "recipients": [],
                    "subject": stepwell_notice::SUBJECT, "message": "Deployed.",
                    "extra": { "sender": null, "retry": null },
                }],
            },
        }],
    })
}

fn config_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "required": ["channel", "message"],
        "properties": {
            "channel": { "type": "string", "title": "Channel", "description": "EMAIL, SLACK or WEBHOOK." },
            "recipients": { "type": "array", "items": { "type": "string" }, "title": "Recipients",
                "description": "Mail addresses; for SLACK and WEBHOOK addresses of http, or none for the sender's own." },
            "subject": { "type": "string", "title": "Subject", "description": "Of a mail." },
            "message": { "type": "string", "title": "Message" },
            "sender": { "type": "string", "title": "Sender",
                "description": "One of the tenant's senders; its default one for the channel if absent." },
            "delay": { "type": ["string", "number"], "title": "Delay", "description": "The wait before the first one: 24h." },
            "scheduleAt": { "type": "string", "title": "At", "description": "When the first one goes out: ISO 8601." },
            "timeZone": { "type": "string", "title": "Time zone", "description": "Of delay and scheduleAt; UTC if absent." },
            "every": { "type": ["string", "number"], "title": "Every", "description": "The wait between two: 24h." },
            "max": { "type": "integer", "title": "How many", "description": "How many in all, 1 to 1000." },
            "required": { "type": "boolean", "title": "Required",
                "description": "Whether the step fails with reminder_failed if one cannot be sent." },
            "retry": { "type": "object", "title": "Tries", "additionalProperties": false,
                "properties": {
                    "maxAttempts": { "type": "integer", "minimum": 1, "maximum": 20 },
                    "initialMs": { "type": "integer", "minimum": 10 },
                    "maxMs": { "type": "integer", "minimum": 10 },
                } },
        },
    })
}
