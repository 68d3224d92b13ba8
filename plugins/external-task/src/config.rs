//! What an author writes under `config`, and the task that it becomes.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use stepwell_sdk::duration::Millis;
use stepwell_sdk::{HeartbeatPolicy, PluginError, RetryPolicy, TaskSpec};

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config<'a> {
    /// What workers poll for.
    pub(crate) task_type: String,
    /// What the worker gets, as it is written; an empty object if absent.
    #[serde(borrow, default, deserialize_with = "given")]
    pub(crate) input: Option<&'a RawValue>,
    /// The time of one attempt; none means no end.
    pub(crate) timeout: Option<Millis>,
    /// How long a worker holds the task without a heartbeat.
    #[serde(default = "lock_duration")]
    pub(crate) lock_duration: Millis,
    /// Attempts in all.
    #[serde(default = "retries")]
    pub(crate) retries: u32,
    /// The sign of life that a worker owes; not watched if absent.
    pub(crate) heartbeat: Option<Heartbeat>,
    /// 1 is first.
    #[serde(default = "priority")]
    pub(crate) priority: i64,
    /// How often a lock may expire before the task counts as poison.
    #[serde(default = "max_lock_expiries")]
    pub(crate) max_lock_expiries: u32,
    /// The waits between attempts; none means at once.
    pub(crate) retry_backoff: Option<Backoff>,
}

/// The sign of life that a worker owes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Heartbeat {
    /// The time between two.
    pub(crate) interval: Millis,
    /// How many may be missing.
    #[serde(default = "max_missed")]
    pub(crate) max_missed: u32,
}

/// The waits between attempts.
#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Backoff {
    /// The wait before the second attempt.
    pub(crate) initial: Millis,
    /// The factor from wait to wait.
    pub(crate) factor: f64,
    /// The longest wait.
    pub(crate) max: Millis,
    /// How much of a wait is random, in percent.
    pub(crate) jitter: u32,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { initial: Millis(1_000), factor: 2.0, max: Millis(300_000), jitter: 10 }
    }
}

fn lock_duration() -> Millis {
    Millis(300_000)
}

fn retries() -> u32 {
    3
}

fn priority() -> i64 {
    5
}

fn max_lock_expiries() -> u32 {
    10
}

fn max_missed() -> u32 {
    2
}

/// Unlike an absent one, `null` is something that was given.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl Config<'_> {
    /// The task, or what about the configuration makes no sense although its schema allows it.
    pub(crate) fn task(self, key: &str) -> Result<TaskSpec, PluginError> {
        let refuse = |sentence: &str| Err(PluginError::InvalidConfig(sentence.into()));
        if self.task_type.trim().is_empty() {
            return refuse("taskType is empty: name what workers shall poll for");
        }
        let input = self.input.map_or("{}", RawValue::get);
        if !input.starts_with('{') {
            return refuse("input is no object: give the worker names and values");
        }
        if self.lock_duration.0 == 0 {
            return refuse("lockDuration is 0: a worker could never hold the task");
        }
        if self.timeout == Some(Millis(0)) {
            return refuse("timeout is 0: leave it out for a task that never times out");
        }
        if self.heartbeat.as_ref().is_some_and(|heartbeat| heartbeat.interval.0 == 0) {
            return refuse("heartbeat.interval is 0: leave heartbeat out if none is expected");
        }
        if self.retries == 0 {
            return refuse("retries is 0: it counts attempts in all, so 1 is the least");
        }
        Ok(TaskSpec {
            key: key.into(),
            topic: self.task_type,
            input: input.into(),
            priority: self.priority,
            timeout_ms: self.timeout.map(|timeout| timeout.0),
            lock_ms: self.lock_duration.0,
            retry: retry(self.retries, self.retry_backoff),
            heartbeat: self.heartbeat.map(|heartbeat| HeartbeatPolicy {
                interval_ms: heartbeat.interval.0,
                max_missed: heartbeat.max_missed,
            }),
            max_lock_expiries: self.max_lock_expiries,
            extra: "{}".into(),
        })
    }
}

fn retry(max_attempts: u32, backoff: Option<Backoff>) -> RetryPolicy {
    match backoff {
        None => {
            RetryPolicy { max_attempts, initial_ms: 0, factor_percent: 100, max_ms: 0, jitter_percent: 0 }
        }
        Some(backoff) => RetryPolicy {
            max_attempts,
            initial_ms: backoff.initial.0,
            factor_percent: (backoff.factor.clamp(1.0, 100.0) * 100.0).round() as u32,
            max_ms: backoff.max.0.max(backoff.initial.0),
            jitter_percent: backoff.jitter.min(100),
        },
    }
}
