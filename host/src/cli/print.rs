//! What commands print: results on stdout, troubles on stderr, colour only on a terminal.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde_json::Value;

use super::Error;

/// A column of a table: its title, and where its value is in a row (a JSON pointer).
pub(super) type Column = (&'static str, &'static str);

/// The longest cell of a table that is not the last one.
const CELL_CHARS_MAX: usize = 60;

/// Prints for people or for scripts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    /// JSON only.
    pub(super) json: bool,
    /// Whether stdout is a terminal that wants colour.
    pub(super) colour: bool,
}

impl Output {
    /// Looks at where stdout goes.
    pub(super) fn new(json: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { json, colour: wanted && !json && std::io::stdout().is_terminal() }
    }

    /// A line for people; scripts do not see it.
    pub(super) fn line(&self, text: impl AsRef<str>) {
        if !self.json {
            write_line(text.as_ref());
        }
    }

    /// JSON, on one line for scripts and indented for people.
    pub(super) fn value(&self, value: &Value) {
        let text = if self.json { serde_json::to_string(value) } else { serde_json::to_string_pretty(value) };
        write_line(&text.unwrap_or_default());
    }

    /// Indented JSON for people; scripts had it already.
    pub(super) fn value_for_people(&self, value: &Value) {
        if !self.json {
            self.value(value);
        }
    }

    /// JSON for scripts, a sentence for people.
    pub(super) fn answer(&self, value: &Value, sentence: impl AsRef<str>) {
        match (self.json, value) {
            // The server had nothing to add.
            (true, Value::Null) => self.value(&serde_json::json!({ "ok": true })),
            (true, value) => self.value(value),
            (false, _) => write_line(sentence.as_ref()),
        }
    }

    /// A list: JSON for scripts, a table for people.
    pub(super) fn list(&self, answer: &Value, columns: &[Column]) {
        if self.json {
            return self.value(answer);
        }
        let rows = rows(answer);
        if rows.is_empty() {
            return write_line("(none)");
        }
        let cells: Vec<Vec<String>> =
            rows.iter().map(|row| columns.iter().map(|(_, at)| cell(row, at)).collect()).collect();
        for line in table(columns, &cells) {
            write_line(&self.tinted(&line));
        }
        if let Some(next) = answer.get("next").and_then(Value::as_str) {
            write_line(&format!("(more: --after {next})"));
        }
    }

    /// Names and values, one a line.
    pub(super) fn fields(&self, fields: &[(&str, String)]) {
        let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
            write_line(&self.tinted(&format!("{name:width$}  {value}")));
        }
    }

    /// Tells what went wrong, on stderr; the status to end with.
    pub(super) fn failure(&self, error: &Error) -> ExitCode {
        let mut stderr = std::io::stderr().lock();
        if self.json {
            let _ = writeln!(stderr, "{}", error.to_json());
        } else {
            let _ = writeln!(stderr, "error ({}): {}", error.code, error.message);
            for detail in error.details() {
                let _ = writeln!(stderr, "  {detail}");
            }
        }
        error.exit.into()
    }

    /// Gives words that say how something stands a colour, on a terminal.
    fn tinted(&self, line: &str) -> String {
        if !self.colour {
            return line.to_owned();
        }
        line.split(' ').map(tint).collect::<Vec<_>>().join(" ")
    }
}

/// The rows of a list's answer: its `items`, or the answer itself.
pub(super) fn rows(answer: &Value) -> &[Value] {
    let items = answer.get("items").unwrap_or(answer);
    items.as_array().map_or(&[], Vec::as_slice)
}

/// A value of a row as text.
pub(super) fn cell(row: &Value, pointer: &str) -> String {
    match row.pointer(pointer) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        Some(other) => other.to_string(),
    }
}

fn table(columns: &[Column], rows: &[Vec<String>]) -> Vec<String> {
    let width = |at: usize| {
        let title = columns.get(at).map_or(0, |(title, _)| title.len());
        rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).fold(title, usize::max)
    };
    let widths: Vec<usize> = (0..columns.len()).map(|at| width(at).min(CELL_CHARS_MAX)).collect();
    let line = |cells: Vec<&str>| {
        let mut text = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let last = at + 1 == cells.len();
            let cell = if last { (*cell).to_owned() } else { cut(cell) };
            let pad = if last { 0 } else { widths.get(at).copied().unwrap_or(0) + 2 };
            text.push_str(&format!("{cell:pad$}"));
        }
        text.trim_end().to_owned()
    };
    let titles = line(columns.iter().map(|(title, _)| *title).collect());
    std::iter::once(titles)
        .chain(rows.iter().map(|row| line(row.iter().map(String::as_str).collect())))
        .collect()
}

fn cut(cell: &str) -> String {
    if cell.chars().count() <= CELL_CHARS_MAX {
        return cell.to_owned();
    }
    cell.chars().take(CELL_CHARS_MAX - 1).chain(['…']).collect()
}

fn tint(word: &str) -> String {
    let code = match word {
        "completed" | "COMPLETED" | "pass" => 32,
        "failed" | "FAILED" | "incident" | "fail" => 31,
        "waiting" | "running" | "PENDING" | "LOCKED" => 33,
        _ => return word.to_owned(),
    };
    format!("\u{1b}[{code}m{word}\u{1b}[0m")
}

/// A reader that went away (`stepwell … | head`) is no reason to panic.
fn write_line(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{text}");
    let _ = stdout.flush();
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_lines_up_and_leaves_no_blanks_at_the_end() {
        let rows = [json!({ "id": "a", "n": 12 }), json!({ "id": "long", "n": null })];
        let cells: Vec<Vec<String>> =
            rows.iter().map(|row| vec![cell(row, "/id"), cell(row, "/n")]).collect();
        assert_eq!(table(&[("ID", "/id"), ("N", "/n")], &cells), ["ID    N", "a     12", "long"]);
    }
}
