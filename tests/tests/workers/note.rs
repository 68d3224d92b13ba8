//! What a worker writes down, a line each, before it goes on: a worker that is killed has told all that it knew.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell::domain::{Clock as _, SystemClock};

/// Something that happened to a task in a worker's hands. Times are milliseconds of the clock on the wall, which the
/// hosts have too: all of them are on one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// It was handed out.
    Got { task: String, token: String, locked_at: i64, expires_at: i64, got_at: i64 },
    /// A heartbeat was answered: the lock lasts until then.
    Extended { token: String, expires_at: i64 },
    /// A report is about to leave.
    Sent { token: String, verb: String, at: i64 },
    /// It was answered.
    Told { token: String, verb: String, status: u16, code: String },
}

/// The worker's file.
pub struct Book {
    file: File,
}

impl Book {
    /// Opens or makes it.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { file: OpenOptions::new().create(true).append(true).open(path)? })
    }

    /// Writes a note; it is with the system when this returns.
    pub fn write(&mut self, note: &Note) -> Result<()> {
        let line = match note {
            Note::Got { task, token, locked_at, expires_at, got_at } => {
                json!(["got", token, task, locked_at, expires_at, got_at])
            }
            Note::Extended { token, expires_at } => json!(["extended", token, expires_at]),
            Note::Sent { token, verb, at } => json!(["sent", token, verb, at]),
            Note::Told { token, verb, status, code } => json!(["told", token, verb, status, code]),
        };
        Ok(self.file.write_all(format!("{line}\n").as_bytes())?)
    }
}

/// Every note in a file.
pub fn read(path: &Path) -> Result<Vec<Note>> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| note(line).with_context(|| format!("not a note: {line}"))).collect()
}

fn note(line: &str) -> Option<Note> {
    let line: Value = serde_json::from_str(line).ok()?;
    let text = |at: usize| line[at].as_str().map(str::to_owned);
    let number = |at: usize| line[at].as_i64();
    let token = text(1)?;
    Some(match line[0].as_str()? {
        "got" => Note::Got {
            token,
            task: text(2)?,
            locked_at: number(3)?,
            expires_at: number(4)?,
            got_at: number(5)?,
        },
        "extended" => Note::Extended { token, expires_at: number(2)? },
        "sent" => Note::Sent { token, verb: text(2)?, at: number(3)? },
        "told" => {
            Note::Told { token, verb: text(2)?, status: u16::try_from(number(3)?).ok()?, code: text(4)? }
        }
        _ => return None,
    })
}

/// Now, in whole milliseconds, as hosts write times: what happens later never has an earlier one.
pub fn now() -> i64 {
    SystemClock.now().millis()
}

/// A time of an answer.
pub fn time(value: &Value) -> Option<i64> {
    Some(chrono::DateTime::parse_from_rfc3339(value.as_str()?).ok()?.timestamp_millis())
}

#[test]
fn a_note_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    let token = || "l-1".to_owned();
    let notes = [
        Note::Got { task: "t-1".into(), token: token(), locked_at: 1, expires_at: 3, got_at: 2 },
        Note::Extended { token: token(), expires_at: 4 },
        Note::Sent { token: token(), verb: "complete".into(), at: 3 },
        Note::Told { token: token(), verb: "complete".into(), status: 409, code: "lock_lost".into() },
    ];
    let mut book = Book::open(&path).unwrap();
    notes.iter().for_each(|note| book.write(note).unwrap());
    assert_eq!(read(&path).unwrap(), notes);
}
