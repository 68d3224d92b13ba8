//! The journal: every decision, with all that is needed to make it again.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::json::JsonText;
use super::{Digest, InstanceId, TenantId, Timestamp};

/// A row of `workflow_journal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its id; ids are in order within an instance, and those of one decision follow one another directly.
    pub id: Uuid,
    /// Whose it is.
    pub tenant: TenantId,
    /// The instance.
    pub instance_id: InstanceId,
    /// The step execution; the instance's own id for entries about the whole instance.
    pub subject_id: Uuid,
    /// The number of the call within its subject; unique with it.
    pub seq: i64,
    /// `start`, `event`, `transform`, or what happened to the instance (`instance-started`, …).
    pub kind: String,
    /// The step's id within its workflow.
    pub step_id: Option<String>,
    /// When, by the clock that the plugin saw.
    pub at: Timestamp,
    /// The component that decided.
    pub plugin_digest: Option<Digest>,
    /// A line for the timeline.
    pub note: Option<String>,
    /// The call: context, event, state before (big parts as `{"$blob": HASH}`).
    pub call: Option<JsonText>,
    /// The answer: state after, effects, outcome, or the fault.
    pub answer: Option<JsonText>,
    /// Fuel burnt.
    pub fuel: Option<i64>,
    /// The highest memory use.
    pub memory_bytes: Option<i64>,
}

impl JournalEntry {
    /// About how long its texts are.
    pub fn bytes(&self) -> usize {
        let texts = [&self.call, &self.answer].into_iter().flatten().map(JsonText::as_str);
        texts.chain(self.note.as_deref()).map(str::len).sum()
    }
}

/// A row of `workflow_blobs`: a big part of journal entries, kept once for each instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blob {
    /// Whose it is.
    pub tenant: TenantId,
    /// The instance whose journal names it.
    pub instance_id: InstanceId,
    /// SHA-256 of the body.
    pub hash: Digest,
    /// JSON text.
    pub body: String,
}

/// The least size of a part that is kept apart.
pub const BLOB_BYTES_MIN: usize = 2_048;

/// The reference that stands in a journal entry for a blob.
pub fn blob_reference(hash: &Digest) -> Value {
    serde_json::json!({ "$blob": hash })
}
