//! What starts a workflow by itself: its triggers, as the document has them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One item of a workflow's `triggers`.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// Unique within the workflow: what operators see, and what a later version goes on with.
    pub id: String,
    /// What it waits for.
    pub kind: TriggerKind,
}

impl Trigger {
    /// The trigger as one that waits for the clock, if it is one.
    pub fn cron(&self) -> Option<&CronTrigger> {
        match &self.kind {
            TriggerKind::Cron(cron) => Some(cron),
            TriggerKind::Event(_) => None,
        }
    }
}

/// What a trigger waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum TriggerKind {
    /// The clock.
    Cron(CronTrigger),
    /// Events of a topic.
    Event(EventTrigger),
}

/// Starts a workflow for each event of a topic that passes a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTrigger {
    /// The topic.
    pub topic: String,
    /// What must stand in the event's body, by path.
    pub filter: BTreeMap<String, Value>,
    /// Where the business key stands in the event's body.
    pub business_key_field: Option<String>,
}

/// Starts a workflow whenever a cron expression says so.
#[derive(Clone, Debug, PartialEq)]
pub struct CronTrigger {
    /// Five fields, six with seconds first, or a name such as `@daily`.
    pub cron: String,
    /// A zone of the IANA database.
    pub time_zone: String,
    /// What becomes of due times that nobody was there for.
    pub misfire: Misfire,
    /// What happens if the instance that it started last still runs.
    pub overlap: Overlap,
    /// The context of the instances that it starts, an object.
    pub context: Value,
}

/// What becomes of due times that no host was there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Misfire {
    /// One start for all of them.
    #[default]
    FireOnce,
    /// No start.
    Skip,
    /// A start for each of them, up to a bound.
    FireAll,
}

/// What happens if the instance that was started last still runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// Another one is started beside it.
    #[default]
    Allow,
    /// This due time is left out.
    Skip,
    /// The next one starts when it has ended.
    Queue,
}
