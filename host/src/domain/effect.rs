//! What a plugin wants done, as data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::topic;

/// One effect; the contract's `effect` as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Effect {
    /// Offer a task to workers.
    CreateTask(TaskSpec),
    /// Withdraw a task.
    CancelTask {
        /// The task's key.
        key: String,
    },
    /// Set a timer, or move it.
    SetTimer {
        /// The timer's key.
        key: String,
        /// When, in milliseconds since the Unix epoch.
        at_ms: i64,
        /// What it is for.
        timer_type: String,
    },
    /// Withdraw a timer.
    CancelTimer {
        /// The timer's key.
        key: String,
    },
    /// Wait for messages.
    Subscribe {
        /// The subscription's key.
        key: String,
        /// The message's name.
        name: String,
        /// Only messages with this correlation.
        correlation: Option<String>,
        /// When the interest ends by itself.
        expires_at_ms: Option<i64>,
        /// Additions.
        extra: Value,
    },
    /// Stop waiting.
    Unsubscribe {
        /// The subscription's key.
        key: String,
    },
    /// Send a message.
    Publish {
        /// The effect's key.
        key: String,
        /// The message's name; one that begins with `kafka:` leaves for that topic.
        name: String,
        /// What tells one conversation from another.
        correlation: Option<String>,
        /// The body.
        payload: Value,
        /// Headers, in order.
        headers: Vec<(String, String)>,
    },
    /// Send an HTTP request.
    HttpCall {
        /// The call's key.
        key: String,
        /// The method.
        method: String,
        /// The address.
        url: String,
        /// Headers, in order.
        headers: Vec<(String, String)>,
        /// The body, base64.
        body: String,
        /// The time for one try.
        timeout_ms: u64,
        /// Additions.
        extra: Value,
    },
    /// Tell people.
    Notify {
        /// The note's key.
        key: String,
        /// The channel.
        channel: String,
        /// Who gets it.
        recipients: Vec<String>,
        /// The subject line.
        subject: String,
        /// The text.
        message: String,
        /// Additions.
        extra: Value,
    },
    /// Anything else.
    Custom {
        /// The effect's key.
        key: String,
        /// What it is.
        custom_kind: String,
        /// Its content.
        payload: Value,
    },
}

impl Effect {
    /// The word for it, as `describe` lists it in `effects`.
    pub fn label(&self) -> &'static str {
        match self {
            Self::CreateTask(_) => "create-task",
            Self::CancelTask { .. } => "cancel-task",
            Self::SetTimer { .. } => "set-timer",
            Self::CancelTimer { .. } => "cancel-timer",
            Self::Subscribe { .. } => "subscribe",
            Self::Unsubscribe { .. } => "unsubscribe",
            Self::Publish { .. } => "publish",
            Self::HttpCall { .. } => "http-call",
            Self::Notify { .. } => "notify",
            Self::Custom { .. } => "custom",
        }
    }

    /// The topic of Kafka that it is to be sent to, if it is.
    pub fn kafka_topic(&self) -> Option<&str> {
        match self {
            Self::Publish { name, .. } => topic::of_message(name),
            _ => None,
        }
    }

    /// The key chosen by the plugin.
    pub fn key(&self) -> &str {
        match self {
            Self::CreateTask(spec) => &spec.key,
            Self::CancelTask { key }
            | Self::SetTimer { key, .. }
            | Self::CancelTimer { key }
            | Self::Subscribe { key, .. }
            | Self::Unsubscribe { key }
            | Self::Publish { key, .. }
            | Self::HttpCall { key, .. }
            | Self::Notify { key, .. }
            | Self::Custom { key, .. } => key,
        }
    }
}

/// Work for someone outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// Unique in the step's attempt.
    pub key: String,
    /// The task type.
    pub topic: String,
    /// What the worker gets.
    pub input: Value,
    /// 1 is first.
    pub priority: i64,
    /// The time of an attempt.
    pub timeout_ms: Option<u64>,
    /// How long a worker holds the task.
    pub lock_ms: u64,
    /// What happens when a worker fails the task.
    pub retry: RetryPolicy,
    /// Watched only if given.
    pub heartbeat: Option<HeartbeatPolicy>,
    /// How often a lock may expire.
    pub max_lock_expiries: u32,
    /// Additions.
    pub extra: Value,
}

/// How the host retries a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// Attempts in all.
    pub max_attempts: u32,
    /// The wait before the second.
    pub initial_ms: u64,
    /// The factor from wait to wait.
    pub factor_percent: u32,
    /// The longest wait.
    pub max_ms: u64,
    /// How much of a wait is random.
    pub jitter_percent: u32,
}

/// The sign of life that a worker owes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatPolicy {
    /// The time between two.
    pub interval_ms: u64,
    /// How many may be missing.
    pub max_missed: u32,
}
