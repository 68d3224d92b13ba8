//! What the step type says of itself.

use serde_json::{Value, json};
use stepwell_sdk::duration::DURATION_PATTERN;

/// The descriptor.
pub(crate) fn descriptor() -> Value {
    json!({
        "types": ["EXTERNAL_TASK"],
        "version": env!("CARGO_PKG_VERSION"),
        "title": "External task",
        "category": "Tasks",
        "icon": "outbox",
        "state_version": 1,
        "effects": ["create-task"],
        "config_schema": config_schema(),
        "output_schema": { "title": "What the worker returned" },
        "examples": [{
            "name": "a task with a time-out",
            "config": { "taskType": "n8n-jira-create-ticket", "input": { "projectKey": "OPS" }, "timeout": "600s" },
            "input": {},
            "expect": {
                "outcome": { "kind": "waiting" },
                "effects": [{
                    "kind": "create-task", "key": "task", "topic": "n8n-jira-create-ticket",
                    "input": { "projectKey": "OPS" }, "timeout_ms": 600_000, "lock_ms": 300_000,
                    "priority": 5, "max_lock_expiries": 10, "heartbeat": null,
                }],
            },
        }],
    })
}

fn config_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["taskType"],
        "additionalProperties": false,
        "properties": {
            "taskType": { "type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[^,]*$", "title": "Task type",
                "description": "What workers poll for." },
            "input": { "type": "object", "default": {}, "title": "Input", "description": "What the worker gets." },
            "timeout": described(duration(), "Time-out", "The time of one attempt, from its creation; absent means no end."),
            "lockDuration": described(duration(), "Lock duration", "How long a worker holds the task without a heartbeat; 300s if absent."),
            "retries": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 3, "title": "Attempts",
                "description": "Attempts in all." },
            "heartbeat": {
                "type": "object", "title": "Heartbeat", "required": ["interval"], "additionalProperties": false,
                "properties": {
                    "interval": described(duration(), "Interval", "The time between two heartbeats."),
                    "maxMissed": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 2, "title": "Missed at most" },
                },
            },
            "priority": { "type": "integer", "default": 5, "title": "Priority", "description": "1 is first, 10 is last." },
            "maxLockExpiries": { "type": "integer", "minimum": 1, "maximum": 100_000, "default": 10, "title": "Lock expiries at most",
                "description": "How often a lock may expire before the task counts as poison." },
            "retryBackoff": {
                "type": "object", "title": "Waits between attempts", "additionalProperties": false,
                "description": "Absent means that the next attempt is offered at once.",
                "properties": {
                    "initial": described(duration(), "First wait", "1s if absent."),
                    "factor": { "type": "number", "minimum": 1, "maximum": 100, "default": 2, "title": "Factor" },
                    "max": described(duration(), "Longest wait", "5m if absent."),
                    "jitter": { "type": "integer", "minimum": 0, "maximum": 100, "default": 10, "title": "Random part, percent" },
                },
            },
        },
    })
}

fn duration() -> Value {
    json!({ "type": ["number", "string"], "minimum": 0, "pattern": DURATION_PATTERN })
}

fn described(mut schema: Value, title: &str, description: &str) -> Value {
    schema["title"] = title.into();
    schema["description"] = description.into();
    schema
}
