//! How a command fails: a sentence for people, a code and an exit status for scripts.

use std::process::ExitCode;

use serde_json::{Value, json};

/// A command that did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Error {
    /// The process's exit status.
    pub(super) exit: Exit,
    /// A stable word for it; the server's own where it gave one.
    pub(super) code: String,
    /// What went wrong and what to do.
    pub(super) message: String,
    /// The server's whole answer, where it gave one.
    pub(super) problem: Option<Value>,
}

/// Exit statuses that scripts can use; 69 and 78 are those of `sysexits.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// The server refused, or the thing failed.
    Refused = 1,
    /// The command was not written rightly.
    Usage = 2,
    /// There is no such thing.
    NotFound = 3,
    /// The server or the database is not there.
    Unavailable = 69,
    /// The settings make no sense.
    Config = 78,
}

impl Error {
    /// Refused, or failed.
    pub(super) fn refused(code: &str, message: impl Into<String>) -> Self {
        Self::of(Exit::Refused, code, message)
    }

    /// Not written rightly.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::of(Exit::Usage, "usage", message)
    }

    /// The server or the database is not there.
    pub(super) fn unavailable(message: impl Into<String>) -> Self {
        Self::of(Exit::Unavailable, "unavailable", message)
    }

    /// The settings make no sense.
    pub(super) fn config(message: impl Into<String>) -> Self {
        Self::of(Exit::Config, "config", message)
    }

    /// The server's refusal, from its problem document.
    pub(super) fn from_problem(status: u16, problem: Value) -> Self {
        let text = |name: &str| problem.get(name).and_then(Value::as_str).map(str::to_owned);
        let exit = match status {
            404 => Exit::NotFound,
            502..=504 => Exit::Unavailable,
            _ => Exit::Refused,
        };
        let code = text("code").unwrap_or_else(|| format!("http_{status}"));
        let message = text("detail")
            .or_else(|| text("title"))
            .unwrap_or_else(|| format!("the server answered with status {status}"));
        Self { exit, code, message, problem: Some(problem) }
    }

    /// Each mistake that the server named, one a line.
    pub(super) fn details(&self) -> Vec<String> {
        let items = self.problem.as_ref().and_then(|problem| {
            problem.get("errors").or_else(|| problem.get("details")).and_then(Value::as_array)
        });
        items.into_iter().flatten().map(detail).collect()
    }

    /// As JSON, for scripts.
    pub(super) fn to_json(&self) -> Value {
        let exit = self.exit as u8;
        json!({ "error": { "code": self.code, "message": self.message, "exit": exit, "problem": self.problem } })
    }

    fn of(exit: Exit, code: &str, message: impl Into<String>) -> Self {
        Self { exit, code: code.to_owned(), message: message.into(), problem: None }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<crate::settings::Error> for Error {
    fn from(error: crate::settings::Error) -> Self {
        Self::config(error.to_string())
    }
}

impl From<crate::boot::Error> for Error {
    fn from(error: crate::boot::Error) -> Self {
        match error {
            crate::boot::Error::Unavailable(message) => Self::unavailable(message),
            crate::boot::Error::Config(message) => Self::config(message),
        }
    }
}

impl From<crate::telemetry::Error> for Error {
    fn from(error: crate::telemetry::Error) -> Self {
        Self::config(error.to_string())
    }
}

/// A mistake as `line 3, column 5: steps[0].type: …`.
fn detail(item: &Value) -> String {
    let number = |name: &str| item.get(name).and_then(Value::as_u64);
    let mut place = Vec::new();
    if let Some(line) = number("line") {
        let column = number("column").map(|column| format!(", column {column}")).unwrap_or_default();
        place.push(format!("line {line}{column}"));
    }
    if let Some(field) = item.get("field").and_then(Value::as_str).filter(|field| !field.is_empty()) {
        place.push(field.to_owned());
    }
    let message = item.get("message").and_then(Value::as_str);
    place.push(message.map_or_else(|| item.to_string(), str::to_owned));
    place.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_becomes_an_exit_status_and_a_sentence() {
        let problem = json!({ "code": "task_not_found", "detail": "no such task" });
        let error = Error::from_problem(404, problem);
        assert_eq!(
            (error.exit, error.code.as_str(), error.message.as_str()),
            (Exit::NotFound, "task_not_found", "no such task")
        );
        assert_eq!(Error::from_problem(503, json!({})).exit, Exit::Unavailable);
        assert_eq!(Error::from_problem(422, json!({})).exit, Exit::Refused);
        let mistakes =
            json!({ "errors": [{ "line": 3, "column": 5, "field": "steps[0].type", "message": "unknown" }] });
        assert_eq!(
            Error::from_problem(400, mistakes).details(),
            ["line 3, column 5: steps[0].type: unknown"]
        );
    }
}
