//! Errors as Camunda writes them: `{ "type", "message", "code" }`.
//!
//! The types are simple names of Java classes, and clients tell them apart, so they are kept, with the statuses that
//! Camunda gives them, some of which are 500 for what is the caller's mistake.

use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::api::error::Problem;
use crate::domain::TaskId;
use crate::engine::port::StoreError;
use crate::engine::{Error, Refused};

/// What Camunda calls an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An engine exception that the surface has caught.
    Rest,
    /// The request makes no sense.
    InvalidRequest,
    /// The same, found by the engine.
    BadUserRequest,
    /// A field is missing, found by the engine.
    NullValue,
    /// Anything else of the engine.
    ProcessEngine,
    /// There is no such route.
    NotFound,
    /// The route does not take this method.
    NotAllowed,
    /// The caller may not.
    Authorization,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Rest => "RestException",
            Self::InvalidRequest => "InvalidRequestException",
            Self::BadUserRequest => "BadUserRequestException",
            Self::NullValue => "NullValueException",
            Self::ProcessEngine => "ProcessEngineException",
            Self::NotFound => "NotFoundException",
            Self::NotAllowed => "NotAllowedException",
            Self::Authorization => "AuthorizationException",
        }
    }

    /// Camunda's code: 0 if the engine raised it, none if the surface did.
    fn code(self) -> Option<u32> {
        match self {
            Self::Rest | Self::BadUserRequest | Self::NullValue | Self::ProcessEngine => Some(0),
            _ => None,
        }
    }
}

/// An error of this surface.
#[derive(Debug)]
pub(super) struct CamundaError {
    status: u16,
    kind: Kind,
    message: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl CamundaError {
    pub(super) fn new(status: u16, kind: Kind, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into(), headers: Vec::new() }
    }

    /// The request makes no sense.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, Kind::InvalidRequest, message)
    }

    /// An engine's refusal that the surface passes on as 400.
    pub(super) fn rest(message: impl Into<String>) -> Self {
        Self::new(400, Kind::Rest, message)
    }

    /// A field is missing; Camunda answers 500.
    pub(super) fn null(field: &str) -> Self {
        Self::new(500, Kind::NullValue, format!("{field} is null"))
    }

    /// A field is out of range; Camunda answers 500.
    pub(super) fn engine(message: impl Into<String>) -> Self {
        Self::new(500, Kind::ProcessEngine, message)
    }

    /// The same, found while something was done with a variable: `what` says so first.
    pub(super) fn within(self, what: &str) -> Self {
        Self { kind: Kind::InvalidRequest, message: format!("{what}: {}", self.message), ..self }
    }

    /// What the engine found missing, as the surface passes it on.
    pub(super) fn of_deed(self, deed: &str) -> Self {
        if self.kind != Kind::NullValue {
            return self;
        }
        Self { kind: Kind::Rest, message: format!("Cannot {deed}: {}", self.message), ..self }
    }

    /// There is no such task.
    pub(super) fn no_task(id: &str) -> Self {
        Self::new(404, Kind::Rest, format!("External task with id {id} does not exist"))
    }

    /// A refusal of the engine; `owner` makes the sentence of a lock that another worker has.
    pub(super) fn refused(refused: Refused, id: TaskId, owner: impl Fn(&str) -> String) -> Self {
        match refused {
            Refused::Unknown => Self::no_task(&id.to_string()),
            Refused::Owner(Some(worker)) => Self::rest(owner(&format!("'{worker}'"))),
            Refused::Owner(None) => Self::rest(owner("'null'")),
            Refused::Expired(now) => Self::rest(format!(
                "Cannot extend a lock that expired: lockExpirationTime is not greater than or equal to {}",
                now.millis()
            )),
            Refused::Other(error) => error.into(),
        }
    }
}

impl From<Error> for CamundaError {
    fn from(error: Error) -> Self {
        match error {
            Error::Busy { code: "too_many_parked_polls", .. } => Self::new(
                500,
                Kind::InvalidRequest,
                "At the moment the server has to handle too many requests at the same time. Please try again later.",
            ),
            error => Problem::from(error).into(),
        }
    }
}

impl From<StoreError> for CamundaError {
    fn from(error: StoreError) -> Self {
        Problem::from(error).into()
    }
}

impl From<Problem> for CamundaError {
    fn from(problem: Problem) -> Self {
        let (status, _, message, headers) = problem.into_parts();
        // Clients know 400, 404 and 500; a conflict is a request that makes no sense any more.
        let (status, kind) = match status.as_u16() {
            409 | 422 => (400, Kind::Rest),
            401 | 403 => (status.as_u16(), Kind::Authorization),
            404 => (404, Kind::Rest),
            400 | 413 | 429 => (status.as_u16(), Kind::InvalidRequest),
            other => (other, Kind::ProcessEngine),
        };
        Self { status, kind, message, headers }
    }
}

impl IntoResponse for CamundaError {
    fn into_response(self) -> Response {
        let mut body = json!({ "type": self.kind.name(), "message": self.message, "code": self.kind.code() });
        if self.status == 403 {
            // Whoever asks has a role, and no permissions one by one: there is none to name.
            for field in ["userId", "permissionName", "resourceName", "resourceId"] {
                body[field] = Value::Null;
            }
            body["missingAuthorizations"] = json!([]);
        }
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, body.to_string()).into_response();
        response.headers_mut().extend(self.headers);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}
