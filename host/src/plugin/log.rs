//! What a plugin writes to the log: lines under the target `plugin`, within a budget of bytes for each call.

use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) use super::bindings::log::Level;

/// Who writes: goes with each line.
#[derive(Clone, Debug, Default)]
pub(super) struct Author {
    /// Plugin, tenant, instance and step, one after the other: every call has an author, and few ever write.
    text: String,
    ends: [usize; 4],
}

impl Author {
    /// The plugin, its tenant, instance and step.
    pub(super) fn new(parts: [&str; 4]) -> Self {
        let mut end = 0;
        let ends = parts.map(|part| {
            end += part.len();
            end
        });
        Self { text: parts.concat(), ends }
    }

    fn parts(&self) -> [&str; 4] {
        let [plugin, tenant, instance, step] = self.ends;
        [0..plugin, plugin..tenant, tenant..instance, instance..step]
            .map(|range| self.text.get(range).unwrap_or_default())
    }
}

/// The log as one call sees it.
pub(super) struct LogSink {
    author: Author,
    left_bytes: AtomicUsize,
}

impl LogSink {
    /// A log with a budget.
    pub(super) fn new(author: Author, bytes_max: usize) -> Self {
        Self { author, left_bytes: AtomicUsize::new(bytes_max) }
    }

    /// Writes a line, or as much of it as the budget has left. The line that is cut says so; those after it are dropped.
    pub(super) fn write(&self, level: Level, message: &str, fields: &str) {
        let wanted = message.len() + fields.len();
        let left = self.take(wanted);
        if left == 0 && wanted > 0 {
            return;
        }
        let (message, rest) = cut(message, left);
        let (fields, _) = cut(fields, rest);
        self.emit(level, message, fields, wanted > left);
    }

    /// Takes what is wanted from the budget, or what is left.
    fn take(&self, wanted: usize) -> usize {
        let before = self
            .left_bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(wanted)))
            .unwrap_or_default();
        before.min(wanted)
    }

    fn emit(&self, level: Level, message: &str, fields: &str, cut: bool) {
        let [plugin, tenant, instance, step] = self.author.parts();
        macro_rules! line {
            ($level:expr) => {
                tracing::event!(target: "plugin", $level, plugin, tenant, instance, step, fields, cut, "{message}")
            };
        }
        match level {
            Level::Trace => line!(tracing::Level::TRACE),
            Level::Debug => line!(tracing::Level::DEBUG),
            Level::Info => line!(tracing::Level::INFO),
            Level::Warn => line!(tracing::Level::WARN),
            Level::Error => line!(tracing::Level::ERROR),
        }
    }
}

/// The beginning of a text that fits, and what is left of the room.
fn cut(text: &str, room: usize) -> (&str, usize) {
    let kept = &text[..text.floor_char_boundary(room)];
    (kept, room - kept.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(cut("příliš", 4), ("př", 1));
        assert_eq!(cut("short", 100), ("short", 95));
    }

    #[test]
    fn an_author_is_told_in_full() {
        assert_eq!(Author::new(["p", "", "čt", "4"]).parts(), ["p", "", "čt", "4"]);
    }

    #[test]
    fn the_budget_is_spent_once() {
        let sink = LogSink::new(Author::default(), 10);
        assert_eq!((sink.take(4), sink.take(4), sink.take(4), sink.take(4)), (4, 4, 2, 0));
    }
}
