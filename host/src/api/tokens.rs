//! Tokens: make, list, revoke.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::Admin;
use super::error::{Problem, ProblemBody};
use super::extract::{Id, Json};
use super::view::PageView;
use crate::domain::token::{Role, Token};
use crate::domain::{Timestamp, TokenId};

/// A wish for a token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenBody {
    /// What people call it.
    name: String,
    /// worker, sender, operator or admin.
    #[schema(value_type = String)]
    role: Role,
    /// Not valid from then on.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

/// A token, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Token)]
pub(super) struct TokenView {
    id: Uuid,
    tenant: String,
    role: &'static str,
    name: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    revoked_at: Option<Timestamp>,
    /// What to send as `Authorization: Bearer`; shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl TokenView {
    fn new(token: Token, secret: Option<String>) -> Self {
        Self {
            id: token.id.0,
            tenant: token.tenant.to_string(),
            role: token.role.label(),
            name: token.name,
            created_at: token.created_at,
            expires_at: token.expires_at,
            revoked_at: token.revoked_at,
            token: secret,
        }
    }
}

/// Lists the tenant's tokens.
#[utoipa::path(get, path = "/api/v1/tokens", tag = "tokens", responses((status = 200, body = PageView<TokenView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Admin(tenant): Admin,
) -> Result<JsonAnswer<PageView<TokenView>>, Problem> {
    let tokens = state.node.store.tokens(&tenant).await?;
    let items = tokens.into_iter().map(|token| TokenView::new(token, None)).collect();
    Ok(JsonAnswer(PageView { items, next: None }))
}

/// Makes a token. Its secret is in this answer, and nowhere else.
#[utoipa::path(post, path = "/api/v1/tokens", tag = "tokens", request_body = TokenBody,
    responses((status = 201, body = TokenView), (status = 400, body = ProblemBody)))]
pub(super) async fn create(
    State(state): State<AppState>,
    Admin(tenant): Admin,
    Json(body): Json<TokenBody>,
) -> Result<(StatusCode, JsonAnswer<TokenView>), Problem> {
    if body.name.is_empty() || body.name.chars().count() > 100 {
        return Err(Problem::field("name", "must have 1 to 100 characters"));
    }
    let made = state.node.engine.create_token(&tenant, body.role, &body.name, body.expires_at).await?;
    Ok((StatusCode::CREATED, JsonAnswer(TokenView::new(made.token, Some(made.secret)))))
}

/// Revokes a token. Other hosts believe it for a few seconds more.
#[utoipa::path(delete, path = "/api/v1/tokens/{id}", tag = "tokens",
    params(("id" = Uuid, Path, description = "The token")),
    responses((status = 204), (status = 404, body = ProblemBody)))]
pub(super) async fn revoke(
    State(state): State<AppState>,
    Admin(tenant): Admin,
    Id(id): Id<TokenId>,
) -> Result<StatusCode, Problem> {
    state.node.engine.revoke_token(&tenant, id).await?;
    state.tokens.forget();
    Ok(StatusCode::NO_CONTENT)
}
