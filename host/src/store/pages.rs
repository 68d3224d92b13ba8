//! The journal as it is stored: the lines that a transition writes for an instance are one row, a page. A row costs the
//! database more than its bytes do, and such lines are written, read and removed together.
//!
//! A page is its first line, and the text of the others. Their ids follow one another with no room between them, as the
//! engine makes them for the lines of one decision, so pages never overlap, and the one that has a line is easily found.

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::domain::id::successor;
use crate::domain::journal::JournalEntry;
use crate::domain::json::JsonText;
use crate::domain::page::PageRequest;
use crate::domain::{Digest, Timestamp};
use crate::engine::port::store::Result;
use crate::engine::port::{StoreError, Write};

/// Bytes of the texts of a page's lines, about: whoever reads a part of a journal reads whole pages, one for each line that is
/// asked for. A line that is longer by itself is a page of its own.
const PAGE_BYTES_MAX: usize = 8 << 10;

/// A row of `workflow_journal`.
#[derive(Debug, Deserialize)]
pub(super) struct Page {
    #[serde(flatten)]
    first: JournalEntry,
    /// The [`Line`]s after it, a JSON array.
    more: Option<String>,
}

/// A later line of a page: what the first does not tell. Its id follows from its place.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    seq: i64,
    kind: String,
    /// If it is another than that of the first line; so is the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject_id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plugin_digest: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fuel: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<i64>,
}

impl Line {
    fn below(first: &JournalEntry, line: JournalEntry) -> Self {
        Self {
            seq: line.seq,
            kind: line.kind,
            subject_id: (line.subject_id != first.subject_id).then_some(line.subject_id),
            at: (line.at != first.at).then_some(line.at),
            step_id: line.step_id,
            plugin_digest: line.plugin_digest,
            note: line.note,
            call: line.call.map(JsonText::raw),
            answer: line.answer.map(JsonText::raw),
            fuel: line.fuel,
            memory_bytes: line.memory_bytes,
        }
    }

    fn entry(self, first: &JournalEntry, id: Uuid) -> JournalEntry {
        JournalEntry {
            id,
            tenant: first.tenant.clone(),
            instance_id: first.instance_id,
            subject_id: self.subject_id.unwrap_or(first.subject_id),
            seq: self.seq,
            kind: self.kind,
            step_id: self.step_id,
            at: self.at.unwrap_or(first.at),
            plugin_digest: self.plugin_digest,
            note: self.note,
            call: self.call.map(JsonText::from),
            answer: self.answer.map(JsonText::from),
            fuel: self.fuel,
            memory_bytes: self.memory_bytes,
        }
    }
}

impl Page {
    /// Its id, which is that of its first line.
    pub(super) fn id(&self) -> Uuid {
        self.first.id
    }

    /// Its lines, oldest first.
    fn lines(self) -> serde_json::Result<Vec<JournalEntry>> {
        let more: Vec<Line> = self.more.as_deref().map_or(Ok(Vec::new()), serde_json::from_str)?;
        let mut lines = Vec::with_capacity(more.len() + 1);
        let first = self.first;
        let mut id = first.id;
        lines.extend(more.into_iter().map(|line| {
            id = successor(id);
            line.entry(&first, id)
        }));
        lines.insert(0, first);
        Ok(lines)
    }
}

/// Takes the lines of the journal out of what a transition writes, as pages.
pub(super) fn take(writes: &mut Vec<Write>) -> Vec<Page> {
    let taken = writes.extract_if(.., |write| matches!(write, Write::InsertJournal(_)));
    let mut lines: Vec<JournalEntry> = taken.filter_map(line).collect();
    lines.sort_by_key(|line| (line.instance_id, line.id));
    let mut pages: Vec<Page> = Vec::new();
    let mut lines = lines.into_iter().peekable();
    while let Some(first) = lines.next() {
        let (mut last, mut bytes) = (first.id, first.bytes());
        let rest: Vec<Line> = std::iter::from_fn(|| {
            let line = lines.next_if(|line| {
                (line.instance_id, line.id) == (first.instance_id, successor(last))
                    && bytes + line.bytes() <= PAGE_BYTES_MAX
            })?;
            (last, bytes) = (line.id, bytes + line.bytes());
            Some(Line::below(&first, line))
        })
        .collect();
        let more = (!rest.is_empty()).then(|| serde_json::to_string(&rest).unwrap_or_default());
        pages.push(Page { first, more });
    }
    pages
}

/// Lines of pages after the one that a request names, and one more than it asks for.
pub(super) fn lines_after(pages: Vec<Page>, request: &PageRequest) -> Result<Vec<JournalEntry>> {
    let unreadable = |error| StoreError::Broken(format!("journal: a page cannot be read: {error}"));
    let mut lines = Vec::new();
    for page in pages {
        lines.extend(page.lines().map_err(unreadable)?);
    }
    lines.retain(|line| request.after.is_none_or(|after| line.id > after));
    lines.truncate(usize::try_from(request.limit).unwrap_or(usize::MAX).saturating_add(1));
    Ok(lines)
}

fn line(write: Write) -> Option<JournalEntry> {
    match write {
        Write::InsertJournal(line) => Some(line),
        _ => None,
    }
}

/// As one struct, whose fields are the columns.
impl Serialize for Page {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Self { first, more } = self;
        let mut row = serializer.serialize_struct("Page", 15)?;
        row.serialize_field("id", &first.id)?;
        row.serialize_field("tenant", &first.tenant)?;
        row.serialize_field("instance_id", &first.instance_id)?;
        row.serialize_field("subject_id", &first.subject_id)?;
        row.serialize_field("seq", &first.seq)?;
        row.serialize_field("kind", &first.kind)?;
        row.serialize_field("step_id", &first.step_id)?;
        row.serialize_field("at", &first.at)?;
        row.serialize_field("plugin_digest", &first.plugin_digest)?;
        row.serialize_field("note", &first.note)?;
        row.serialize_field("call", &first.call)?;
        row.serialize_field("answer", &first.answer)?;
        row.serialize_field("fuel", &first.fuel)?;
        row.serialize_field("memory_bytes", &first.memory_bytes)?;
        row.serialize_field("more", more)?;
        row.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{InstanceId, TenantId};

    fn entry(instance: u128, id: u128) -> JournalEntry {
        JournalEntry {
            id: Uuid::from_u128(id),
            tenant: TenantId::default(),
            instance_id: InstanceId(Uuid::from_u128(instance)),
            subject_id: Uuid::from_u128(instance),
            seq: 1,
            kind: "event".into(),
            step_id: None,
            at: Timestamp::from_millis(1),
            plugin_digest: None,
            note: Some("\"quoted\" \u{1} ä".into()),
            call: JsonText::parse(r#"{ "a" : 1 }"#.into()).ok(),
            answer: None,
            fuel: Some(1),
            memory_bytes: None,
        }
    }

    #[test]
    fn a_page_has_no_more_than_it_may() {
        let long = |id| JournalEntry { note: Some("x".repeat(PAGE_BYTES_MAX / 2)), ..entry(1, id) };
        let mut writes: Vec<Write> = (1..=3).map(long).map(Write::InsertJournal).collect();
        let pages = take(&mut writes);
        assert_eq!(pages.iter().map(|page| page.id().as_u128()).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn lines_of_an_instance_are_a_page_and_come_back_as_they_were() {
        let entries = [entry(1, 7), entry(2, 5), entry(1, 6), entry(1, 8), entry(1, 10)];
        let mut writes: Vec<Write> = entries.iter().cloned().map(Write::InsertJournal).collect();
        let pages = take(&mut writes);
        assert!(writes.is_empty());
        assert_eq!(pages.iter().map(|page| page.id().as_u128()).collect::<Vec<_>>(), [6, 10, 5]);
        let read =
            |page: &Page| -> Page { serde_json::from_str(&serde_json::to_string(page).unwrap()).unwrap() };
        let lines: Vec<_> = pages.iter().flat_map(|page| read(page).lines().unwrap()).collect();
        assert_eq!(lines, [entry(1, 6), entry(1, 7), entry(1, 8), entry(1, 10), entry(2, 5)]);
        assert!(pages[1].more.is_none(), "a line that is alone is a row as it always was");
    }
}
