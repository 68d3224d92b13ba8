//! What a note to people is: its channel, who gets it, and how often.
//!
//! Used by the step types `TIMER` and `REMINDER`, inside their components, and by the host, which checks what any
//! component asks it to send. There is no clock in here: whoever asks brings the time along.

mod channel;
mod config;
mod series;

pub use channel::{Channel, check_recipient, check_subject};
pub use config::{Notice, read};
pub use series::{Series, Step};

/// Who may get one note.
pub const RECIPIENTS_MAX: usize = 50;
/// The longest subject.
pub const SUBJECT_CHARS_MAX: usize = 500;
/// The longest recipient.
pub const RECIPIENT_BYTES_MAX: usize = 2_000;
/// The most reminders of one step.
pub const SERIES_MAX: u64 = 1_000;
/// The subject of a note that has none.
pub const SUBJECT: &str = "Workflow Timer Reminder";
