//! Problems as clients see them (RFC 9457): the one file that maps an error to a status.

use axum::http::header::{CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::json::Flaw;
use crate::engine::port::StoreError;
use crate::engine::{Error, Mistake};

/// Seconds after which a client may try again.
const RETRY_AFTER_SECONDS: &str = "1";

/// A problem+json answer.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    errors: Vec<Mistake>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The body of every error.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// `urn:stepwell:problem:CODE`.
    #[serde(rename = "type")]
    pub problem_type: String,
    /// The status in words.
    pub title: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// A stable code for programs.
    pub code: &'static str,
    /// What went wrong and what to do, for people.
    pub detail: String,
    /// Each mistake in a document, with its line and field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<MistakeBody>,
}

/// One mistake in a document.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Mistake)]
pub struct MistakeBody {
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The field, as `steps[2].config.taskType`.
    pub field: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl Problem {
    /// A problem with a status, a stable code and a sentence.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), errors: Vec::new(), headers: Vec::new() }
    }

    /// The request makes no sense.
    pub fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// A field of the request is wrong.
    pub fn field(field: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let mut problem = Self::bad_request("invalid_request", format!("`{field}` {message}"));
        problem.errors.push(Mistake { line: None, column: None, field: field.into(), message });
        problem
    }

    /// There is no such thing.
    pub fn not_found(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    /// Nobody knows who asks.
    pub fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
            .with(WWW_AUTHENTICATE, "Bearer realm=\"stepwell\"")
    }

    /// The one who asks may not.
    pub fn forbidden(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, detail)
    }

    /// A body over the limit.
    pub fn body_too_large(bytes_max: usize) -> Self {
        let detail =
            format!("the body is larger than {bytes_max} bytes; send less, or have body_bytes_max raised");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", detail)
    }

    /// A mistake of ours: the details are for the log.
    pub fn internal() -> Self {
        let detail = "the host could not do this; its log says why";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", detail)
    }

    /// The host or its database cannot do this now.
    pub fn unavailable(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail).with(RETRY_AFTER, RETRY_AFTER_SECONDS)
    }

    fn with(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.push((name, HeaderValue::from_static(value)));
        self
    }

    /// Its parts, for a surface with bodies of its own.
    pub fn into_parts(self) -> (StatusCode, &'static str, String, Vec<(HeaderName, HeaderValue)>) {
        (self.status, self.code, self.detail, self.headers)
    }

    /// What is sent.
    pub(super) fn body(self) -> ProblemBody {
        let errors = self.errors.into_iter().map(|mistake| MistakeBody {
            line: mistake.line,
            column: mistake.column,
            field: mistake.field,
            message: mistake.message,
        });
        ProblemBody {
            problem_type: format!("urn:stepwell:problem:{}", self.code),
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            code: self.code,
            detail: self.detail,
            errors: errors.collect(),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound { code, message } => Self::not_found(code, message),
            Error::Conflict { code, message } => Self::new(StatusCode::CONFLICT, code, message),
            Error::Invalid { code, message, details } => {
                Self { errors: details, ..Self::bad_request(code, message) }
            }
            Error::Unprocessable { code, message } => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
            }
            Error::TooLarge { code, message } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, code, message),
            Error::Busy { code, message } if code.starts_with("too_many") => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, code, message).with(RETRY_AFTER, RETRY_AFTER_SECONDS)
            }
            Error::Busy { code, message } => Self::unavailable(code, message),
            Error::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(reason) => {
                tracing::warn!(reason, "the database is not available");
                Self::unavailable("database_unavailable", "the database does not answer; try again")
            }
            StoreError::Unknown(reason) => {
                tracing::warn!(reason, "the outcome of a commit is not known");
                let detail =
                    "the database was lost during a commit; repeat the request: it is not done twice";
                Self::unavailable("outcome_unknown", detail)
            }
            StoreError::Broken(reason) => {
                tracing::error!(reason, "the database refused a statement");
                Self::internal()
            }
        }
    }
}

impl From<Flaw> for Problem {
    fn from(flaw: Flaw) -> Self {
        let code = match flaw {
            Flaw::Nul => "json_contains_nul",
            Flaw::TooDeep => "json_too_deep",
        };
        Self::bad_request(code, format!("the JSON {flaw}"))
    }
}

impl IntoResponse for Problem {
    fn into_response(mut self) -> Response {
        let (status, headers) = (self.status, std::mem::take(&mut self.headers));
        let body = serde_json::to_string(&self.body()).unwrap_or_default();
        let mut response = (status, body).into_response();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response.headers_mut().extend(headers);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_status() {
        let busy = |code| Error::Busy { code, message: String::new() };
        let cases: [(Error, u16); 9] = [
            (Error::not_found("task_not_found", "x"), 404),
            (Error::conflict("lock_lost", "x"), 409),
            (Error::invalid("definition_invalid", "x"), 400),
            (Error::unprocessable("template_path_missing", "x"), 422),
            (Error::too_large("context_too_large", "x"), 413),
            (busy("too_many_parked_polls"), 429),
            (busy("instance_busy"), 503),
            (StoreError::Unavailable(String::new()).into(), 503),
            (StoreError::Broken(String::new()).into(), 500),
        ];
        for (error, status) in cases {
            let problem = Problem::from(error.clone());
            assert_eq!(problem.status.as_u16(), status, "{error:?}");
            let retry = problem.headers.iter().any(|(name, _)| name == RETRY_AFTER);
            assert_eq!(retry, [429, 503].contains(&status), "{error:?}");
        }
    }
}
