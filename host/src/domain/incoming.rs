//! Events from outside: what comes in, what became of it, and why something was refused.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{InstanceId, TenantId, Timestamp};

/// An event from outside, whatever brought it.
#[derive(Clone, Debug)]
pub struct IncomingEvent {
    /// Whose it is; of every tenant whose workflows name the topic, if absent.
    pub tenant: Option<TenantId>,
    /// What brought it.
    pub source: EventSource,
    /// Its topic.
    pub topic: String,
    /// The key of its record.
    pub key: Option<String>,
    /// Headers, in order.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub payload: Value,
    /// What tells a repeat from a new event: workflows are started once for each.
    pub id: Option<String>,
}

/// What brought an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventSource {
    /// A request to `/api/v1/events`.
    Http,
    /// A record of Kafka.
    Kafka {
        /// Its partition.
        partition: i32,
        /// Its place there.
        offset: i64,
    },
    /// A request to one of the routes for callbacks.
    Callback,
}

impl EventSource {
    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Kafka { .. } => "kafka",
            Self::Callback => "callback",
        }
    }

    /// What tells a record of Kafka from all others.
    pub fn kafka_id(topic: &str, partition: i32, offset: i64) -> String {
        format!("kafka/{topic}/{partition}/{offset}")
    }
}

/// A callback of a service that a step has called.
#[derive(Clone, Debug)]
pub struct IncomingCallback {
    /// The instance that it says it is for.
    pub execution_id: String,
    /// The wait that it says it is for.
    pub correlation_id: String,
    /// The named event that it is; all that callbacks can bring, if absent.
    pub event: Option<String>,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub payload: Value,
    /// The bytes that a signature is over.
    pub body: Vec<u8>,
}

/// What became of an event. It is told only after the commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Events of waits that took it.
    pub delivered: usize,
    /// Events of waits that had come before: nothing was changed.
    pub repeated: usize,
    /// Instances that it is kept for, until their wait begins or its time is over.
    pub kept: usize,
    /// Instances that it started, also if the same event had done so before.
    pub started: Vec<InstanceId>,
    /// Why it, or one of several tenants' share in it, was refused.
    pub rejected: Option<Rejection>,
}

impl Receipt {
    /// Nothing but a refusal.
    pub fn refused(rejection: Rejection) -> Self {
        Self { rejected: Some(rejection), ..Self::default() }
    }

    /// Takes another tenant's share in.
    pub fn add(&mut self, other: Self) {
        self.delivered += other.delivered;
        self.repeated += other.repeated;
        self.kept += other.kept;
        self.started.extend(other.started);
        self.rejected = self.rejected.or(other.rejected);
    }
}

macro_rules! rejections {
    ($($(#[$doc:meta])* $name:ident = $label:literal, $sentence:literal;)+) => {
        /// Why an event was refused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Rejection {
            $($(#[$doc])* $name,)+
        }

        impl Rejection {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Its stable code.
            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$name => $label,)+
                }
            }

            /// What it means, for people.
            pub fn sentence(self) -> &'static str {
                match self {
                    $(Self::$name => $sentence,)+
                }
            }
        }
    };
}

rejections! {
    /// It has an execution id, and no correlation id.
    MissingCorrelationId = "missing_correlation_id", "it has no correlation id where the workflows look for one";
    /// It has a correlation id, and no execution id.
    MissingExecutionId = "missing_execution_id", "it has no execution id where the workflows look for one";
    /// It has neither, and starts nothing.
    Unclaimed = "unclaimed", "it has no ids, and no workflow of the tenant is started by it";
    /// An id is no text.
    WrongType = "wrong_type", "an id is not text, or is longer than 255 bytes";
    /// No instance of the tenant has the execution id.
    UnknownExecution = "unknown_execution", "the tenant has no execution with this id";
    /// The instance has ended.
    ExecutionOver = "execution_over", "the execution has ended";
    /// The execution waits under another correlation id alone.
    CorrelationMismatch = "correlation_mismatch", "the execution does not wait under this correlation id";
    /// The wait has ended.
    WaitOver = "wait_over", "the wait has ended: completed, timed out or cancelled";
    /// The wait does not listen to this source or topic.
    NotEnabled = "not_enabled", "the wait does not listen to this topic or source";
    /// No filter lets it pass.
    Filtered = "filtered", "it does not pass the filter";
    /// The named event's own time is over.
    EventExpired = "event_expired", "the time for this event is over";
    /// Its signature is missing or wrong.
    BadSignature = "bad_signature", "its signature is missing or wrong";
    /// It is larger than a wait can take.
    TooLarge = "too_large", "with it the wait would hold more than the limit";
    /// Too many events are kept for the instance.
    TooManyKept = "too_many_kept", "too many events are kept for this execution already";
    /// It was kept, and nobody came for it.
    KeptTooLong = "kept_too_long", "it was kept, and no wait began in its time";
    /// A workflow could not be started by it.
    NotStarted = "not_started", "a workflow that it starts refused it";
    /// It cannot be read.
    Unreadable = "unreadable", "it cannot be read as JSON";
}

/// A row of `workflow_rejected_events`: an event that was refused, for operators.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RejectedEvent {
    /// Its id; ids are in order of time.
    pub id: Uuid,
    /// Whose it would have been.
    pub tenant: TenantId,
    /// `http`, `kafka` or `callback`.
    pub source: String,
    /// Its topic, empty for a callback.
    pub topic: String,
    /// Why.
    pub reason: String,
    /// For people.
    pub detail: String,
    /// As it said.
    pub execution_id: Option<String>,
    /// As it said.
    pub correlation_id: Option<String>,
    /// When.
    pub created_at: Timestamp,
}
