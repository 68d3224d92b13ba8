//! The plugin's logic, natively.

use serde_json::{Value, json};
use stepwell_sdk::{
    Context, Effect, Event, Outcome, PluginError, TaskFailure, TaskResult, TaskSpec, Transition,
};

use crate::{ExternalTask, Guest as _};

fn context(config: &Value) -> Context {
    Context {
        tenant: "default".into(),
        workflow: "w".into(),
        instance: "i".into(),
        step: "s".into(),
        attempt: 1,
        seq: 0,
        now: 0,
        seed: 0,
        config: config.to_string(),
        extra: "{}".into(),
    }
}

fn start(config: &Value) -> Result<Transition, String> {
    ExternalTask::start(context(config), "{}".into()).map_err(|error| match error {
        PluginError::InvalidConfig(text) => text,
        other => format!("{other:?}"),
    })
}

fn task(config: Value) -> TaskSpec {
    let mut next = start(&config).expect("the configuration is good");
    assert_eq!(next.outcome, Outcome::Waiting);
    match next.effects.remove(0) {
        Effect::CreateTask(task) if next.effects.is_empty() => task,
        other => panic!("not one task: {other:?}"),
    }
}

fn event(event: Event) -> Result<Transition, PluginError> {
    ExternalTask::on_event(context(&json!({ "taskType": "t" })), r#"{"kept":1}"#.into(), event)
}

#[test]
fn the_document_s_example_becomes_a_task() {
    let task = task(json!({
        "taskType": "n8n-jira-create-ticket",
        "input": { "projectKey": "OPS", "priority": "HIGH" },
        "timeout": "600s", "lockDuration": "300s", "retries": 3,
        "heartbeat": { "interval": "60s", "maxMissed": 2 },
    }));
    assert_eq!(task.topic, "n8n-jira-create-ticket");
    assert_eq!(task.input, r#"{"priority":"HIGH","projectKey":"OPS"}"#);
    assert_eq!((task.timeout_ms, task.lock_ms), (Some(600_000), 300_000));
    assert_eq!((task.retry.max_attempts, task.retry.initial_ms), (3, 0));
    let heartbeat = task.heartbeat.expect("declared");
    assert_eq!((heartbeat.interval_ms, heartbeat.max_missed), (60_000, 2));
}

#[test]
fn defaults_are_those_of_the_document() {
    let task = task(json!({ "taskType": "t" }));
    assert_eq!((task.key.as_str(), task.input.as_str(), task.priority), ("task", "{}", 5));
    assert_eq!((task.timeout_ms, task.lock_ms, task.max_lock_expiries), (None, 300_000, 10));
    assert_eq!((task.retry.max_attempts, task.heartbeat), (3, None));
}

#[test]
fn a_declared_backoff_has_defaults_of_its_own() {
    let retry = task(json!({ "taskType": "t", "retryBackoff": {} })).retry;
    assert_eq!(
        (retry.initial_ms, retry.factor_percent, retry.max_ms, retry.jitter_percent),
        (1_000, 200, 300_000, 10)
    );
    let retry =
        task(json!({ "taskType": "t", "retryBackoff": { "initial": "10m", "factor": 1.5, "jitter": 0 } }))
            .retry;
    assert_eq!(
        (retry.initial_ms, retry.factor_percent, retry.max_ms, retry.jitter_percent),
        (600_000, 150, 600_000, 0)
    );
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    for (config, named) in [
        (json!({}), "taskType"),
        (json!({ "taskType": " " }), "taskType"),
        (json!({ "taskType": "t", "lockDuration": 0 }), "lockDuration"),
        (json!({ "taskType": "t", "timeout": "0s" }), "timeout"),
        (json!({ "taskType": "t", "heartbeat": { "interval": 0 } }), "heartbeat.interval"),
        (json!({ "taskType": "t", "retries": 0 }), "retries"),
        (json!({ "taskType": "t", "timeout": "soon" }), "duration"),
        (json!({ "taskType": "t", "colour": "red" }), "colour"),
        (json!({ "taskType": "t", "input": null }), "input"),
        (json!({ "taskType": "t", "input": [1] }), "input"),
    ] {
        let sentence = start(&config).expect_err("refused");
        assert!(sentence.contains(named), "{config}: {sentence}");
    }
}

#[test]
fn a_result_completes_the_step_as_posted() {
    let output = r#"{"result":{"ticketId":"OPS-1"}}"#;
    let done = TaskResult { key: "task".into(), worker: "n8n".into(), output: output.into() };
    let next = event(Event::TaskCompleted(done)).expect("completed");
    assert_eq!(next.outcome, Outcome::Completed(output.into()));
    assert!(next.effects.is_empty());
    assert_eq!((next.state.as_str(), next.state_version), (r#"{"kept":1}"#, 1));
}

#[test]
fn a_failure_for_good_fails_the_step_with_the_worker_s_code() {
    let failed = TaskFailure {
        key: "task".into(),
        code: "jira_down".into(),
        message: "no answer".into(),
        retries_left: 0,
        details: r#"{"stack":"x"}"#.into(),
    };
    match event(Event::TaskFailed(failed)).expect("an answer").outcome {
        Outcome::Failed(failure) => {
            assert_eq!((failure.code.as_str(), failure.message.as_str()), ("jira_down", "no answer"));
            assert_eq!(failure.details, r#"{"stack":"x"}"#);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn cancelling_changes_nothing_and_other_events_are_refused() {
    let next = event(Event::CancelRequested("stop".into())).expect("an answer");
    assert_eq!((next.outcome, next.effects.len()), (Outcome::Waiting, 0));
    assert!(matches!(event(Event::TimerFired("x".into())), Err(PluginError::UnsupportedEvent(_))));
}
