//! What a request brings, read as leniently as Camunda does: unknown fields are ignored, numbers are taken for text and
//! text for numbers, and no body is an empty one.

use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use serde_json::{Map, Value};

use super::error::CamundaError;
use crate::api::AppState;
use crate::api::body::Trouble;
use crate::api::error::Problem;
use crate::domain::json;

/// A JSON object.
pub(super) struct Body(pub(super) Fields);

/// The fields of a JSON object.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(pub(super) Map<String, Value>);

impl FromRequest<AppState> for Body {
    type Rejection = CamundaError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, CamundaError> {
        let bytes_max = state.node.limits.body_bytes_max;
        let bytes =
            crate::api::body::read(request.into_body(), bytes_max).await.map_err(
                |trouble| match trouble {
                    Trouble::TooLarge => CamundaError::from(Problem::body_too_large(bytes_max)),
                    Trouble::Unreadable(_) => CamundaError::invalid(""),
                },
            )?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self(Fields::default()));
        }
        // Camunda has no words for JSON that cannot be read.
        let value: Value = serde_json::from_slice(&bytes).map_err(|_| CamundaError::invalid(""))?;
        json::check(&value).map_err(|flaw| CamundaError::invalid(format!("the JSON {flaw}")))?;
        match value {
            Value::Null => Ok(Self(Fields::default())),
            Value::Object(fields) => Ok(Self(Fields(fields))),
            _ => Err(CamundaError::invalid("")),
        }
    }
}

impl Fields {
    pub(super) fn of(value: &Value) -> Result<Self, CamundaError> {
        value.as_object().cloned().map(Self).ok_or_else(|| CamundaError::invalid(""))
    }

    fn given(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text; a number or a flag is taken for one.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, CamundaError> {
        self.given(name).map(|value| as_text(value).ok_or_else(|| unfit(name, value))).transpose()
    }

    /// A whole number; text is taken for one, and a fraction is cut.
    pub(super) fn long(&self, name: &str) -> Result<Option<i64>, CamundaError> {
        let Some(value) = self.given(name) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => {
                #[expect(clippy::cast_possible_truncation, reason = "checked against the range")]
                let cut = |number: f64| (number.abs() < 9.2e18).then_some(number as i64);
                number.as_i64().or_else(|| number.as_f64().and_then(cut))
            }
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| unfit(name, value))
    }

    /// A whole number of 32 bits.
    pub(super) fn int(&self, name: &str) -> Result<Option<i32>, CamundaError> {
        let Some(number) = self.long(name)? else { return Ok(None) };
        let value = Value::from(number);
        i32::try_from(number).map(Some).map_err(|_| unfit(name, &value))
    }

    /// A flag; absent is false.
    pub(super) fn flag(&self, name: &str) -> Result<bool, CamundaError> {
        match self.given(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::Number(number)) => Ok(number.as_i64() != Some(0)),
            Some(Value::String(text)) if text.is_empty() => Ok(false),
            Some(value @ Value::String(text)) => text.to_lowercase().parse().map_err(|_| unfit(name, value)),
            Some(value) => Err(unfit(name, value)),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, CamundaError> {
        let Some(value) = self.given(name) else { return Ok(None) };
        let items = value.as_array().ok_or_else(|| unfit(name, value))?;
        items
            .iter()
            .map(|item| as_text(item).ok_or_else(|| unfit(name, item)))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// A list of texts to choose by: an empty one chooses nothing out.
    pub(super) fn filled(&self, name: &str) -> Result<Option<Vec<String>>, CamundaError> {
        Ok(self.texts(name)?.filter(|texts| !texts.is_empty()))
    }

    /// A list of objects.
    pub(super) fn objects(&self, name: &str) -> Result<Vec<Self>, CamundaError> {
        let Some(value) = self.given(name) else { return Ok(Vec::new()) };
        let items = value.as_array().ok_or_else(|| unfit(name, value))?;
        items.iter().map(|item| Self::of(item).map_err(|_| unfit(name, item))).collect()
    }

    /// An object.
    pub(super) fn object(&self, name: &str) -> Result<Option<Self>, CamundaError> {
        self.given(name).map(|value| Self::of(value).map_err(|_| unfit(name, value))).transpose()
    }
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn unfit(name: &str, value: &Value) -> CamundaError {
    let shown: String = value.to_string().chars().take(100).collect();
    CamundaError::invalid(format!("Cannot deserialize the value {shown} of the field '{name}'"))
}

/// The parts of a path.
pub(super) struct Names<T>(pub(super) T);

impl<T: serde::de::DeserializeOwned + Send> FromRequestParts<AppState> for Names<T> {
    type Rejection = CamundaError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, CamundaError> {
        if parts.uri.path().contains("%00") {
            return Err(CamundaError::invalid("the path contains the character U+0000"));
        }
        let Path(names) = Path::<T>::from_request_parts(parts, state)
            .await
            .map_err(|error| CamundaError::invalid(error.to_string()))?;
        Ok(Self(names))
    }
}

/// The query's parameters, as fields. An empty one counts as absent.
pub(super) struct Params(pub(super) Fields);

impl FromRequestParts<AppState> for Params {
    type Rejection = CamundaError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, CamundaError> {
        let axum::extract::Query(pairs) =
            axum::extract::Query::<Vec<(String, String)>>::from_request_parts(parts, state)
                .await
                .map_err(|error| CamundaError::invalid(error.to_string()))?;
        let mut fields = Map::new();
        for (name, value) in pairs.into_iter().filter(|(_, value)| !value.is_empty()) {
            if value.contains('\0') {
                return Err(CamundaError::invalid(format!("'{name}' contains the character U+0000")));
            }
            fields.entry(name).or_insert(Value::String(value));
        }
        Ok(Self(Fields(fields)))
    }
}
