//! What a request brings, checked: JSON, text, ids and parameters, with errors that say what is wrong and where.

use std::fmt::Display;
use std::str::FromStr;

use axum::body::Bytes;
use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::AppState;
use super::body::Trouble;
use super::error::Problem;
use crate::domain::json::{self, Flaw};
use crate::domain::page::PageRequest;
use crate::domain::{IncidentId, InstanceId, ScheduleId, TaskId, TimerId, TokenId};

/// A JSON body of some shape. An empty body is an empty object.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<AppState> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let bytes = body(request, state).await?;
        let value = parse(&bytes)?;
        // A struct would take its fields from an array too, by position, which nobody means.
        if value.is_array() {
            return Err(Problem::bad_request("invalid_request", "the body is an array; expected an object"));
        }
        serde_json::from_value(value).map(Json).map_err(|_| wrong_type::<T>(&bytes))
    }
}

/// A JSON body of any shape, with the bytes that it was. An empty body is an empty object.
pub(super) struct Raw {
    pub(super) value: Value,
    pub(super) bytes: Bytes,
}

impl FromRequest<AppState> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let bytes = body(request, state).await?;
        Ok(Self { value: parse(&bytes)?, bytes })
    }
}

/// A body of text.
pub(super) struct Text(pub(super) String);

impl FromRequest<AppState> for Text {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let bytes = body(request, state).await?;
        let text = String::from_utf8(bytes.into()).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Problem::bad_request(
                "invalid_text",
                format!("the body is not UTF-8 (byte {at}); send it as UTF-8"),
            )
        })?;
        if text.contains('\0') {
            return Err(Problem::bad_request("invalid_text", "the body contains the character U+0000"));
        }
        Ok(Self(text))
    }
}

async fn body(request: Request, state: &AppState) -> Result<Bytes, Problem> {
    let bytes_max = state.node.limits.body_bytes_max;
    super::body::read(request.into_body(), bytes_max).await.map_err(|trouble| match trouble {
        Trouble::TooLarge => Problem::body_too_large(bytes_max),
        Trouble::Unreadable(reason) => {
            Problem::bad_request("body_unreadable", format!("the body could not be read: {reason}"))
        }
    })
}

fn parse(bytes: &[u8]) -> Result<Value, Problem> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    let value = serde_json::from_slice(bytes).map_err(|error: serde_json::Error| {
        if error.to_string().starts_with("recursion limit exceeded") {
            return Flaw::TooDeep.into();
        }
        Problem::bad_request("invalid_json", format!("the body is not JSON: {error}"))
    })?;
    json::check(&value)?;
    Ok(value)
}

/// Says which field has the wrong type: parsed once more, with the way to it noted.
fn wrong_type<T: DeserializeOwned>(bytes: &[u8]) -> Problem {
    use std::error::Error as _;
    let detail = match axum::Json::<T>::from_bytes(if bytes.is_empty() { b"{}" } else { bytes }) {
        Err(JsonRejection::JsonDataError(error)) => {
            error.source().map_or_else(|| error.to_string(), ToString::to_string)
        }
        _ => "it has another shape than expected".to_owned(),
    };
    Problem::bad_request("invalid_request", format!("the body does not fit: {detail}"))
}

/// An id in the path.
pub(super) struct Id<T>(pub(super) T);

impl<T: FromStr> FromRequestParts<AppState> for Id<T>
where
    T::Err: Display,
    T: Named,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let Name(text) = Name::from_request_parts(parts, state).await?;
        text.parse().map(Self).map_err(|_| {
            Problem::bad_request(
                "invalid_id",
                format!("`{text}` is not the id of {}: ids are UUIDs", T::WHAT),
            )
        })
    }
}

/// What an id names.
pub(super) trait Named {
    const WHAT: &'static str;
}

impl Named for TaskId {
    const WHAT: &'static str = "a task";
}
impl Named for InstanceId {
    const WHAT: &'static str = "an instance";
}
impl Named for IncidentId {
    const WHAT: &'static str = "an incident";
}
impl Named for TimerId {
    const WHAT: &'static str = "a timer";
}
impl Named for ScheduleId {
    const WHAT: &'static str = "a schedule";
}
impl Named for TokenId {
    const WHAT: &'static str = "a token";
}

/// A name in the path.
pub(super) struct Name(pub(super) String);

impl FromRequestParts<AppState> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let axum::extract::Path(text) = axum::extract::Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|error| unreadable_path(&error))?;
        no_nul("the path", &text)?;
        Ok(Self(text))
    }
}

/// A path whose parts are not text.
pub(super) fn unreadable_path(error: &PathRejection) -> Problem {
    Problem::bad_request("invalid_path", format!("the path cannot be read: {error}"))
}

/// The query's parameters. Unknown ones are ignored; an empty one counts as absent.
pub(super) struct Query(Vec<(String, String)>);

impl FromRequestParts<AppState> for Query {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let axum::extract::Query(pairs) =
            axum::extract::Query::<Vec<(String, String)>>::from_request_parts(parts, state).await.map_err(
                |error| Problem::bad_request("invalid_query", format!("the query cannot be read: {error}")),
            )?;
        for (name, value) in &pairs {
            no_nul(name, value)?;
        }
        Ok(Self(pairs))
    }
}

impl Query {
    /// Every value of a parameter.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, value)| key == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    /// The value of a parameter.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.clone())
    }

    /// The value of a parameter that is read as something else.
    pub(super) fn parsed<T: FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>, Problem> {
        self.text(name)
            .map(|text| {
                text.parse().map_err(|_| Problem::field(name, format!("is `{text}`; expected {expected}")))
            })
            .transpose()
    }

    /// A word of a closed list.
    pub(super) fn word<T: Copy>(
        &self,
        name: &str,
        all: &[T],
        label: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let found = all.iter().copied().find(|&word| label(word).eq_ignore_ascii_case(&text));
        found.map(Some).ok_or_else(|| {
            let words: Vec<_> = all.iter().map(|&word| label(word)).collect();
            Problem::field(name, format!("is `{text}`; expected one of {}", words.join(", ")))
        })
    }

    /// The part of a list that is asked for: `after` and `limit`.
    pub(super) fn page(&self, rows_max: u32) -> Result<PageRequest, Problem> {
        Ok(PageRequest { after: self.parsed("after", "the `next` of a page")?, limit: self.limit(rows_max)? })
    }

    /// How many rows are asked for.
    pub(super) fn limit(&self, rows_max: u32) -> Result<u32, Problem> {
        let limit = self.parsed::<u32>("limit", "a whole number from 1")?.unwrap_or(50);
        if limit == 0 {
            return Err(Problem::field("limit", "is 0; expected a whole number from 1"));
        }
        Ok(limit.min(rows_max))
    }
}

fn no_nul(what: &str, text: &str) -> Result<(), Problem> {
    if text.contains('\0') {
        return Err(Problem::field(what, "contains the character U+0000, which cannot be stored"));
    }
    Ok(())
}
