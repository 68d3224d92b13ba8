//! What the step type says of itself.

use serde_json::{Value, json};

/// The descriptor.
pub(crate) fn descriptor() -> Value {
    json!({
        "types": ["TIMER", "DELAY"],
        "version": env!("CARGO_PKG_VERSION"),
        "title": "Timer",
        "category": "Time",
        "icon": "schedule",
        "state_version": 1,
        "effects": ["notify", "set-timer"],
        "accepts": ["notified", "step-ended", "timer-cancelled"],
        "tried_at_deploy": true,
        "config_schema": config_schema(),
        "output_schema": {
            "type": "object",
            "required": ["triggeredAt", "dueAt"],
            "properties": {
                "triggeredAt": { "type": ["string", "null"], "format": "date-time",
                    "title": "When it fired; null if the step of `until` ended first" },
                "dueAt": { "type": "string", "format": "date-time", "title": "When it was due" },
                "reminders": { "type": "integer", "title": "How many reminders went out" },
            },
        },
        "examples": [
            example("wait two hours", json!({ "delay": "2h" }), "DELAY", 1_767_232_800_000),
            example("a moment", json!({ "scheduleAt": "2026-11-09T02:00:00Z" }), "SCHEDULED", 1_794_189_600_000),
            example("two o'clock in Prague", json!({ "cron": "0 2 * * *", "timeZone": "Europe/Prague" }),
                "SCHEDULED", 1_767_229_200_000),
        ],
    })
}

/// At the start of 2026, UTC, which is when examples happen.
fn example(name: &str, config: Value, kind: &str, at_ms: i64) -> Value {
    json!({
        "name": name,
        "config": config,
        "input": {},
        "expect": {
            "outcome": { "kind": "waiting" },
            "effects": [{ "kind": "set-timer", "key": "timer", "at_ms": at_ms, "timer_type": kind }],
        },
    })
}

fn config_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "delay": { "type": ["string", "number"], "title": "Delay",
                "description": "How long: 90s, 30m, 1h30m, 2d, a number of seconds, or ISO 8601 such as PT1H30M or P1M." },
            "scheduleAt": { "type": "string", "title": "Until",
                "description": "ISO 8601 with a zone, such as 2026-11-09T02:00:00Z; without one it is a local time of timeZone." },
            "cron": { "type": "string", "title": "Cron",
                "description": "Until the next run: five fields, six with seconds, or a name such as @daily." },
            "timeZone": { "type": "string", "title": "Time zone",
                "description": "Of the IANA database, such as Europe/Prague; UTC if absent." },
            "reminder": reminder_schema(),
        },
    })
}

fn reminder_schema() -> Value {
    json!({
        "type": "object",
        "title": "Reminder",
        "description": "A note that goes out when the timer is due.",
        "additionalProperties": false,
        "properties": {
            "enabled": { "type": "boolean", "title": "Enabled", "default": false },
            "channel": { "type": "string", "title": "Channel", "description": "EMAIL, SLACK or WEBHOOK." },
            "recipients": { "type": "array", "items": { "type": "string" }, "title": "Recipients" },
            "subject": { "type": "string", "title": "Subject" },
            "message": { "type": "string", "title": "Message" },
            "sender": { "type": "string", "title": "Sender" },
            "every": { "type": ["string", "number"], "title": "Every" },
            "max": { "type": "integer", "title": "How many" },
            "required": { "type": "boolean", "title": "Required" },
            "retry": { "type": "object", "title": "Tries", "additionalProperties": false,
                "properties": {
                    "maxAttempts": { "type": "integer", "minimum": 1, "maximum": 20 },
                    "initialMs": { "type": "integer", "minimum": 10 },
                    "maxMs": { "type": "integer", "minimum": 10 },
                } },
        },
    })
}
