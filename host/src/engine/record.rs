//! The journal: what was asked, what was answered, and what became of the instance.

use super::decide::NO_USAGE;
use super::draft::Draft;
use super::port::Write;
use super::port::write::json_bytes;
use crate::domain::definition::Step;
use crate::domain::id::fresh;
use crate::domain::instance::InstanceStatus;
use crate::domain::journal::{BLOB_BYTES_MIN, Blob, JournalEntry, blob_reference};
use crate::domain::json::{JsonText, canonical};
use crate::domain::plugin::{Fault, MapCall, StepCall, StepVerb, Usage};
use crate::domain::task::Task;
use crate::domain::transition::{Failure, Outcome, Transition};
use crate::domain::{Digest, Timestamp};
use crate::metrics as names;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// Lines of a fold get their ids when it is decided.
const UNNUMBERED: Uuid = Uuid::nil();

/// A plugin answered.
pub(super) fn transition(
    draft: &mut Draft,
    definition: &Step,
    digest: &Digest,
    call: &StepCall,
    answer: &Transition,
    usage: Usage,
) {
    let note = answer.note.clone().unwrap_or_else(|| match &answer.outcome {
        Outcome::Waiting => "waiting".into(),
        Outcome::Completed { .. } => "completed".into(),
        Outcome::Failed { failure } => format!("failed: {}: {}", failure.code, failure.message),
    });
    let (call_text, answer) = (text(draft, call), text(draft, answer));
    step_line(draft, definition, verb(call), Some(digest), note, call_text, answer, usage);
}

/// A plugin, or the step's mapper, is at fault.
pub(super) fn fault(draft: &mut Draft, definition: &Step, digest: &Digest, call: &StepCall, fault: &Fault) {
    let answer = text(draft, &json!({ "fault": { "code": fault.code, "message": fault.message } }));
    let note = format!("incident: {}: {}", fault.code, fault.message);
    let call_text = text(draft, call);
    step_line(draft, definition, verb(call), Some(digest), note, call_text, answer, NO_USAGE);
}

/// A step cannot begin: its configuration makes no sense with what the instance knows.
pub(super) fn unconfigurable(draft: &mut Draft, definition: &Step, failure: &Failure) {
    let note = format!("failed: {}: {}", failure.code, failure.message);
    step_line(draft, definition, "start", None, note, None, None, NO_USAGE);
}

/// A step's deadline has passed.
pub(super) fn deadline(draft: &mut Draft, definition: &Step, note: String) {
    step_line(draft, definition, "deadline", None, note, None, None, NO_USAGE);
}

/// A step that was done is to be undone.
pub(super) fn compensation(draft: &mut Draft, definition: &Step, note: String) {
    step_line(draft, definition, "compensation", None, note, None, None, NO_USAGE);
}

/// A mapper answered.
pub(super) fn transform(
    draft: &mut Draft,
    definition: &Step,
    digest: &Digest,
    call: &MapCall,
    answer: &Value,
    usage: Usage,
) {
    let (call, answer) = (text(draft, call), text(draft, answer));
    let note = "output mapped".to_owned();
    step_line(draft, definition, "transform", Some(digest), note, call, answer, usage);
}

/// The instance began.
pub(super) fn instance_start(draft: &mut Draft) {
    let note = format!("started {} version {}", draft.instance.workflow_key, draft.instance.workflow_version);
    instance_line(draft, "instance-started", 0, note);
    metrics::counter!(names::INSTANCES_STARTED).increment(1);
}

/// The instance ended, if it has and had not before.
pub(super) fn instance_end(draft: &mut Draft, was: InstanceStatus) {
    let status = draft.instance.status;
    if was.ended() || !status.ended() {
        return;
    }
    let note = match &draft.instance.error {
        Some(failure) => format!("{}: {}: {}", status.label(), failure.code, failure.message),
        None => status.label().to_owned(),
    };
    // Lines of the same instance differ by its version; the start has 0.
    let seq = draft.instance.version.saturating_add(1);
    instance_line(draft, &format!("instance-{}", status.label()), seq, note);
    metrics::counter!(names::INSTANCES_ENDED, "status" => status.label()).increment(1);
}

/// The instance goes on after it had failed.
pub(super) fn instance_revived(draft: &mut Draft, note: String) {
    let seq = draft.instance.version.saturating_add(1);
    instance_line(draft, "instance-revived", seq, note);
}

/// Something became of a task that its step is not told of: it is offered again.
pub(super) fn task_retry(task: &Task, at: Timestamp, note: String) -> Write {
    task_line(task, at, "task-retry", note)
}

/// Something became of a task.
pub(super) fn task_line(task: &Task, at: Timestamp, kind: &str, note: String) -> Write {
    Write::InsertJournal(JournalEntry {
        id: fresh(),
        tenant: task.tenant.clone(),
        instance_id: task.workflow_instance_id,
        subject_id: task.id.0,
        seq: task.version,
        kind: kind.into(),
        step_id: Some(task.step_id.clone()),
        at,
        plugin_digest: None,
        note: Some(note),
        call: None,
        answer: None,
        fuel: None,
        memory_bytes: None,
    })
}

/// The task of a step that failed is offered again, and its instance goes on.
pub(super) fn dead_letter_retried(draft: &mut Draft, task: &Task) {
    let note = format!("dead letter offered again, {} attempts", task.max_retries);
    draft.writes.push(task_line(task, draft.now, "dead-letter-retried", note));
}

fn verb(call: &StepCall) -> &'static str {
    match call.verb {
        StepVerb::Start { .. } => "start",
        StepVerb::OnEvent { .. } => "event",
    }
}

fn instance_line(draft: &mut Draft, kind: &str, seq: i64, note: String) {
    let entry = JournalEntry {
        id: UNNUMBERED,
        tenant: draft.instance.tenant.clone(),
        instance_id: draft.instance.id,
        subject_id: draft.instance.id.0,
        seq,
        kind: kind.to_owned(),
        step_id: None,
        at: draft.now,
        plugin_digest: None,
        note: Some(note),
        call: None,
        answer: None,
        fuel: None,
        memory_bytes: None,
    };
    draft.writes.push(Write::InsertJournal(entry));
}

#[expect(clippy::too_many_arguments, reason = "a line has these parts")]
fn step_line(
    draft: &mut Draft,
    definition: &Step,
    kind: &str,
    digest: Option<&Digest>,
    note: String,
    call: Option<JsonText>,
    answer: Option<JsonText>,
    usage: Usage,
) {
    let Some(arc) = draft.workflow.step(&definition.id).cloned() else { return };
    let (subject_id, seq) = {
        let step = draft.step_mut(&arc);
        step.seq += 1;
        (step.id.0, step.seq - 1)
    };
    let entry = JournalEntry {
        id: UNNUMBERED,
        tenant: draft.instance.tenant.clone(),
        instance_id: draft.instance.id,
        subject_id,
        seq,
        kind: kind.to_owned(),
        step_id: Some(definition.id.clone()),
        at: draft.now,
        plugin_digest: digest.cloned(),
        note: Some(note),
        call,
        answer,
        fuel: i64::try_from(usage.fuel).ok(),
        memory_bytes: i64::try_from(usage.memory_bytes).ok(),
    };
    draft.writes.push(Write::InsertJournal(entry));
}

/// What was said, as JSON. Where it is long, big members down to the second level become blobs: a state is written
/// once, not before and after.
fn text(draft: &mut Draft, said: &impl Serialize) -> Option<JsonText> {
    let text = JsonText::of(said).ok()?;
    if text.as_str().len() < BLOB_BYTES_MIN {
        return Some(text);
    }
    let value = serde_json::to_value(said).ok()?;
    JsonText::of(&share_at(draft, value, 0)).ok()
}

fn share_at(draft: &mut Draft, value: Value, depth: u8) -> Value {
    let Value::Object(members) = value else { return value };
    let members = members.into_iter().map(|(name, member)| {
        let member =
            if depth < 1 && member.is_object() { share_at(draft, member, depth + 1) } else { member };
        if json_bytes(&member) < BLOB_BYTES_MIN {
            return (name, member);
        }
        let body = canonical(&member);
        let hash = Digest::of(body.as_bytes());
        let reference = blob_reference(&hash);
        draft.writes.push(Write::InsertBlob(Blob {
            tenant: draft.instance.tenant.clone(),
            instance_id: draft.instance.id,
            hash,
            body,
        }));
        (name, reference)
    });
    Value::Object(members.collect())
}
