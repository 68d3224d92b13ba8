//! The rules of a task, case by case.

use serde_json::json;

use super::*;
use crate::domain::{InstanceId, LockToken, StepExecutionId, TaskId, TenantId};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

/// A task in the middle of its first attempt.
pub(in crate::engine) fn locked() -> Task {
    let now = Timestamp::from_millis(990_000);
    Task {
        id: TaskId::new(),
        tenant: TenantId::default(),
        workflow_instance_id: InstanceId::new(),
        step_execution_id: StepExecutionId::new(),
        step_id: "a".into(),
        workflow_key: "w".into(),
        business_key: None,
        key: "task".into(),
        task_type: "t".into(),
        priority: 5,
        input: json!({}),
        output: None,
        worker_id: Some("w1".into()),
        locked_at: Some(now),
        lock_duration_seconds: 60.0,
        lock_expires_at: Some(now.plus_millis(60_000)),
        lock_token: Some(LockToken::new()),
        last_heartbeat_at: Some(now),
        heartbeat_interval_seconds: None,
        heartbeat_max_missed: 2,
        timeout_seconds: Some(100.0),
        timeout_at: Some(now.plus_millis(100_000)),
        completed_at: None,
        status: TaskStatus::Locked,
        retry_count: 0,
        max_retries: 3,
        retry_initial_ms: 0,
        retry_factor_percent: 200,
        retry_max_ms: 60_000,
        retry_jitter_percent: 0,
        lock_expiries: 0,
        max_lock_expiries: 10,
        error_message: None,
        error_code: None,
        error_details: None,
        checkpoint: None,
        available_at: now,
        turn_at: now,
        due_at: Some(now.plus_millis(60_000)),
        traceparent: None,
        created_at: now,
        updated_at: now,
        version: 4,
    }
}

fn worker(name: &str) -> Holder {
    Holder { worker_id: Some(name.into()), lock_token: None }
}

fn failure(message: &str) -> WorkerFailure {
    WorkerFailure { message: message.into(), ..WorkerFailure::default() }
}

fn offered(change: Change) -> Task {
    match change {
        Change::Offered(task, _) => *task,
        other => panic!("expected an offer, got {other:?}"),
    }
}

fn ended(change: Change) -> (Task, Event) {
    match change {
        Change::Ended(task, event) => (*task, event),
        other => panic!("expected an end, got {other:?}"),
    }
}

#[test]
fn a_result_ends_the_task_once() {
    let task = locked();
    let (done, event) = ended(complete(&task, &worker("w1"), json!({"a": 1}), NOW).unwrap());
    assert_eq!((done.status, done.due_at, done.version), (TaskStatus::Completed, None, 5));
    assert_eq!(event.label(), "task-completed");
    assert_eq!(complete(&done, &worker("w1"), json!({"a": 1}), NOW).unwrap(), Change::Repeat);
    assert!(complete(&done, &worker("w2"), json!({}), NOW).is_err());
}

#[test]
fn a_stale_holder_is_turned_away() {
    let task = locked();
    let stale = Holder { worker_id: Some("w1".into()), lock_token: Some(LockToken::new()) };
    assert!(complete(&task, &stale, json!({}), NOW).is_err());
    assert!(complete(&task, &worker("w2"), json!({}), NOW).is_err());
    assert!(complete(&task, &Holder::default(), json!({}), NOW).is_ok());
}

#[test]
fn three_retries_are_three_attempts_in_all() {
    let first = offered(fail(&locked(), &worker("w1"), &failure("no"), NOW).unwrap());
    assert_eq!((first.status, first.retry_count), (TaskStatus::Pending, 1));
    assert_eq!(fail(&first, &worker("w1"), &failure("no"), NOW).unwrap(), Change::Repeat);
    let mut again = locked();
    again.retry_count = 2;
    let (dead, event) = ended(fail(&again, &worker("w1"), &failure("no"), NOW).unwrap());
    assert_eq!((dead.status, dead.retry_count), (TaskStatus::Failed, 3));
    assert_eq!(event.label(), "task-failed");
}

#[test]
fn a_worker_may_say_that_retrying_is_no_use() {
    let no_retry = WorkerFailure { no_retry: true, code: Some("gone".into()), ..failure("no") };
    let (dead, _) = ended(fail(&locked(), &worker("w1"), &no_retry, NOW).unwrap());
    assert_eq!((dead.status, dead.error_code.as_deref()), (TaskStatus::Failed, Some("gone")));
}

#[test]
fn a_timeout_spends_an_attempt_and_an_expired_lock_does_not() {
    let late = Timestamp::from_millis(1_090_000);
    let timed_out = offered(due(&locked(), late));
    assert_eq!((timed_out.retry_count, timed_out.timeout_at), (1, Some(late.plus_millis(100_000))));
    let expired = offered(due(&locked(), Timestamp::from_millis(1_050_000)));
    assert_eq!((expired.retry_count, expired.lock_expiries, expired.lock_token), (0, 1, None));
    assert_eq!(expired.due_at, expired.timeout_at);
}

#[test]
fn missed_heartbeats_release_and_poison_ends() {
    let mut task = locked();
    task.heartbeat_interval_seconds = Some(5.0);
    assert!(matches!(due(&task, Timestamp::from_millis(999_999)), Change::Early(_)));
    assert_eq!(offered(due(&task, NOW)).lock_expiries, 1);
    task.lock_expiries = 10;
    let (dead, event) = ended(due(&task, NOW));
    assert_eq!((dead.status, dead.error_code.as_deref()), (TaskStatus::Failed, Some("task_poison")));
    assert_eq!(event.label(), "task-failed");
}

#[test]
fn waits_grow_and_are_capped() {
    let mut task = locked();
    task.retry_initial_ms = 1_000;
    let waits: Vec<i64> = (1..=8)
        .map(|count| {
            task.retry_count = count;
            wait_before_retry_ms(&task)
        })
        .collect();
    assert_eq!(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    task.retry_jitter_percent = 50;
    let jittered = wait_before_retry_ms(&task);
    assert!((30_000..=60_000).contains(&jittered), "{jittered}");
}
