//! Secrets: set, list, forget, seal again. Their values come in and never go out.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::AppState;
use super::access::{Admin, Operator};
use super::error::{Problem, ProblemBody};
use super::extract::{Json, Name};
use super::view::PageView;
use crate::domain::Timestamp;
use crate::domain::secret::Secret;

/// A secret's value, and where it may be sent to.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SecretBody {
    /// At most 16 KiB of text.
    // Not typed: a mistake in it must not be shown in an answer.
    #[schema(value_type = String)]
    value: Value,
    /// Host patterns: `api.example.org`, `*.example.org`, either with a port.
    #[schema(example = json!(["hooks.slack.com"]))]
    hosts: Vec<String>,
}

/// A secret, without its value.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Secret)]
pub(super) struct SecretView {
    name: String,
    /// Where it may be sent to.
    hosts: Vec<String>,
    /// Which key it is sealed with.
    key_id: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<Secret> for SecretView {
    fn from(secret: Secret) -> Self {
        Self {
            name: secret.name,
            hosts: secret.hosts,
            key_id: secret.key_id,
            created_at: secret.created_at,
            updated_at: secret.updated_at,
        }
    }
}

/// What sealing again did.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Resealed {
    /// Secrets of all tenants that were under another key.
    resealed: usize,
    /// The key that all of them are under now.
    #[serde(rename = "keyId")]
    key_id: String,
}

/// Lists the tenant's secrets by name, without their values.
#[utoipa::path(get, path = "/api/v1/secrets", tag = "secrets", responses((status = 200, body = PageView<SecretView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
) -> Result<JsonAnswer<PageView<SecretView>>, Problem> {
    let secrets = state.node.store.secrets(&tenant, None).await?;
    Ok(JsonAnswer(PageView { items: secrets.into_iter().map(Into::into).collect(), next: None }))
}

/// Sets a secret, new or again.
#[utoipa::path(put, path = "/api/v1/secrets/{name}", tag = "secrets", request_body = SecretBody,
    params(("name" = String, Path, description = "Letters, digits, `-` and `_`")),
    responses((status = 200, body = SecretView), (status = 201, body = SecretView),
        (status = 400, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn set(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Name(name): Name,
    Json(body): Json<SecretBody>,
) -> Result<(StatusCode, JsonAnswer<SecretView>), Problem> {
    let value = body.value.as_str().ok_or_else(|| Problem::field("value", "is no text"))?;
    let (secret, created) = state.node.engine.set_secret(&tenant, &name, value, body.hosts).await?;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, JsonAnswer(secret.into())))
}

/// Forgets a secret. Requests that need it fail from then on.
#[utoipa::path(delete, path = "/api/v1/secrets/{name}", tag = "secrets",
    params(("name" = String, Path, description = "The secret")),
    responses((status = 204), (status = 404, body = ProblemBody)))]
pub(super) async fn delete(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Name(name): Name,
) -> Result<StatusCode, Problem> {
    state.node.engine.delete_secret(&tenant, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Seals the secrets of all tenants with the host's newest key. Old keys can be taken away then.
#[utoipa::path(post, path = "/api/v1/secret-keys/rotate", tag = "secrets",
    responses((status = 200, body = Resealed)))]
pub(super) async fn rotate(
    State(state): State<AppState>,
    Admin(_): Admin,
) -> Result<JsonAnswer<Resealed>, Problem> {
    let resealed = state.node.engine.reseal_secrets().await?;
    Ok(JsonAnswer(Resealed { resealed, key_id: state.node.engine.keyring().newest().to_owned() }))
}
