//! What a step waits for from outside: wait states, their listeners, and events that came too early.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{InstanceId, StepExecutionId, TenantId, Timestamp};

/// The custom effect with which a step says what it waits for. Each one replaces the one before.
pub const WAIT_EFFECT: &str = "wait-state";
/// The event that a called service's answer is.
pub const API_RESPONSE: &str = "api_response";
/// The event of a topic that has no name of its own.
pub const KAFKA_EVENT: &str = "kafka_event";

/// A row of `execution_wait_states`. Its id is that of the step execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitState {
    /// Its id.
    pub id: StepExecutionId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The instance that waits.
    pub execution_id: InstanceId,
    /// The step's id within its workflow.
    pub node_id: String,
    /// Which attempt at the step.
    pub attempt: i32,
    /// What tells this wait from others of the instance.
    pub correlation_id: String,
    /// `all`, `any`, `required_only`, `custom`, or a plugin's own word.
    pub aggregation_strategy: String,
    /// Names of the events without which it does not go on.
    pub required_events: Vec<String>,
    /// Names of all events.
    pub enabled_events: Vec<String>,
    /// Whether one of them is the answer of a called service.
    pub api_call_enabled: bool,
    /// Whether one of them comes by a topic.
    pub kafka_event_enabled: bool,
    /// What the called service said.
    pub api_response_data: Option<Value>,
    /// What came by the topic.
    pub kafka_event_data: Option<Value>,
    /// What else came, by name.
    pub event_data: Option<Value>,
    /// Names of what has come, in order.
    pub received_events: Vec<String>,
    /// Who hears what.
    pub listeners: Vec<Listener>,
    /// Where it stands.
    pub status: WaitStatus,
    /// What people should know, such as that it went on with a part.
    pub warning: Option<String>,
    /// When the step went on.
    pub resumed_at: Option<Timestamp>,
    /// Which host let it.
    pub resumed_by: Option<String>,
    /// Raised by every change.
    pub version: i32,
    /// When the wait began.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

/// Where a wait stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitStatus {
    /// It waits.
    Waiting,
    /// The step went on.
    Completed,
    /// Its time was over, and the step failed.
    Timeout,
    /// What it waits for can no longer come, and the step failed.
    Failed,
    /// The step ended otherwise.
    Cancelled,
    /// It failed, and an operator let the step begin again.
    Retried,
}

impl WaitStatus {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Completed, Self::Timeout, Self::Failed, Self::Cancelled, Self::Retried];

    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Timeout => "timeout",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Retried => "retried",
        }
    }

    /// Whether an operator may complete or retry it.
    pub fn dead(self) -> bool {
        matches!(self, Self::Timeout | Self::Failed)
    }
}

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ListenerSource {
    /// A request to one of the routes for callbacks.
    Callback,
    /// A topic, by Kafka or by `/api/v1/events`.
    Kafka,
    /// A message: a subscription brings it.
    Message,
    /// The answer to the step's own request.
    Response,
}

/// One named event that a wait hears of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Listener {
    /// The event's name.
    pub name: String,
    /// Where it comes from.
    pub source: ListenerSource,
    /// The topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Where the correlation id stands in its body.
    #[serde(default = "correlation_id", skip_serializing_if = "is_correlation_id")]
    pub correlation_id_field: String,
    /// Where the execution id stands in its body.
    #[serde(default = "execution_id", skip_serializing_if = "is_execution_id")]
    pub execution_id_field: String,
    /// What must stand in its body, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub filter: BTreeMap<String, Value>,
    /// How it is signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hmac: Option<HmacRule>,
    /// Its time is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

/// How a callback is signed: HMAC-SHA-256 over its body, in hexadecimal digits or base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HmacRule {
    /// The marker of the secret that is the key.
    pub secret: String,
    /// The header that carries the signature.
    pub header: String,
}

/// The usual place of a correlation id.
pub fn correlation_id() -> String {
    "correlation_id".into()
}

/// The usual place of an execution id.
pub fn execution_id() -> String {
    "execution_id".into()
}

fn is_correlation_id(field: &str) -> bool {
    field == "correlation_id"
}

fn is_execution_id(field: &str) -> bool {
    field == "execution_id"
}

/// The payload of the effect [`WAIT_EFFECT`]: the wait as the step sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "as in WaitState")]
pub struct WaitNote {
    pub correlation_id: String,
    pub strategy: String,
    #[serde(default)]
    pub required_events: Vec<String>,
    pub listeners: Vec<Listener>,
    /// Names of what has come, in order.
    #[serde(default)]
    pub received_events: Vec<String>,
    /// What has come, by name.
    #[serde(default)]
    pub data: BTreeMap<String, Value>,
    pub status: WaitStatus,
    #[serde(default)]
    pub warning: Option<String>,
    /// In milliseconds since the Unix epoch.
    pub expires_at_ms: i64,
}

/// A row of `workflow_kept_events`: an event that came before the wait that it is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptEvent {
    /// Its id; ids are in order of arrival.
    pub id: Uuid,
    /// Whose it is.
    pub tenant: TenantId,
    /// The instance that it is for.
    pub execution_id: InstanceId,
    /// The wait that it is for.
    pub correlation_id: String,
    /// `http`, `kafka` or `callback`.
    pub source: String,
    /// Its topic, empty for a callback.
    pub topic: String,
    /// The event as it came, canonical JSON text: payload, headers, and what a callback brings besides.
    pub event: String,
    /// How long that is.
    pub bytes: i64,
    /// When it came.
    pub created_at: Timestamp,
    /// Until when it is kept.
    pub expires_at: Timestamp,
}

/// A row of `workflow_topics`: a topic that a tenant's workflows name, and where they look for ids in its events.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TopicFields {
    /// Whose workflows.
    pub tenant: TenantId,
    /// The topic.
    pub topic: String,
    /// The path to the correlation id.
    pub correlation_field: String,
    /// The path to the execution id.
    pub execution_field: String,
}

/// A row of `workflow_event_triggers`: a topic whose events start a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventTriggerRow {
    /// Whose it is.
    pub tenant: TenantId,
    /// What is started.
    pub workflow_key: String,
    /// Which of its triggers.
    pub trigger_id: String,
    /// The topic.
    pub topic: String,
    /// What must stand in an event's body, by path.
    pub filter: BTreeMap<String, Value>,
    /// Where the business key stands in an event's body.
    pub business_key_field: Option<String>,
    /// When it was deployed.
    pub created_at: Timestamp,
}

/// How many waits there are, for metrics.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct WaitCount {
    /// Those that wait.
    pub active: i64,
    /// Those of them whose end is over by more than a minute: nobody looked after them.
    pub overdue: i64,
    /// When the oldest of them began.
    pub oldest: Option<Timestamp>,
}
