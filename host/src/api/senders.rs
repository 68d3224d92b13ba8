//! Senders: how a tenant's notes to people leave. Secrets are named, and never shown.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::{Json, Name};
use super::view::PageView;
use crate::domain::Timestamp;
use crate::domain::sender::{Security, Sender, SenderSettings};

/// How notes leave on a channel. Which fields there are depends on it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SenderBody {
    /// EMAIL, SLACK or WEBHOOK.
    #[schema(example = "EMAIL")]
    channel: String,
    /// Whether it is taken where a step names none.
    #[serde(default)]
    default: bool,
    /// EMAIL: the mail server.
    host: Option<String>,
    /// EMAIL: its port; 587, 465 or 25 by `security` if absent.
    port: Option<u16>,
    /// EMAIL: STARTTLS (if absent), TLS or NONE.
    #[schema(value_type = Option<String>)]
    security: Option<Security>,
    /// EMAIL: the address that mails come from.
    from: Option<String>,
    /// EMAIL: who logs in.
    user: Option<String>,
    /// EMAIL: the name of the secret that is the password.
    password_secret: Option<String>,
    /// EMAIL: a certificate (PEM) that is trusted besides those of the system.
    ca_certificate: Option<String>,
    /// SLACK, WEBHOOK: where notes without recipients go.
    url: Option<String>,
    /// SLACK, WEBHOOK: the same as the name of a secret.
    url_secret: Option<String>,
    /// WEBHOOK: the name of the secret that requests are signed with.
    signing_secret: Option<String>,
}

/// A sender.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Sender)]
pub(super) struct SenderView {
    name: String,
    /// EMAIL, SLACK or WEBHOOK.
    channel: String,
    /// Whether it is taken where a step names none.
    default: bool,
    host: Option<String>,
    port: Option<u16>,
    #[schema(value_type = Option<String>)]
    security: Option<Security>,
    from: Option<String>,
    user: Option<String>,
    password_secret: Option<String>,
    ca_certificate: Option<String>,
    url: Option<String>,
    url_secret: Option<String>,
    signing_secret: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<Sender> for SenderView {
    fn from(sender: Sender) -> Self {
        let settings = sender.settings;
        Self {
            name: sender.name,
            channel: sender.channel,
            default: sender.is_default,
            host: settings.host,
            port: settings.port,
            security: settings.security,
            from: settings.from,
            user: settings.user,
            password_secret: settings.password_secret,
            ca_certificate: settings.ca_certificate,
            url: settings.url,
            url_secret: settings.url_secret,
            signing_secret: settings.signing_secret,
            created_at: sender.created_at,
            updated_at: sender.updated_at,
        }
    }
}

/// Lists the tenant's senders by name.
#[utoipa::path(get, path = "/api/v1/senders", tag = "reminders",
    responses((status = 200, body = PageView<SenderView>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    Operator(tenant): Operator,
) -> Result<JsonAnswer<PageView<SenderView>>, Problem> {
    let senders = state.node.store.senders(&tenant).await?;
    Ok(JsonAnswer(PageView { items: senders.into_iter().map(Into::into).collect(), next: None }))
}

/// Shows a sender.
#[utoipa::path(get, path = "/api/v1/senders/{name}", tag = "reminders",
    params(("name" = String, Path, description = "The sender")),
    responses((status = 200, body = SenderView), (status = 404, body = ProblemBody)))]
pub(super) async fn show(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Name(name): Name,
) -> Result<JsonAnswer<SenderView>, Problem> {
    Ok(JsonAnswer(state.node.engine.sender(&tenant, &name).await?.into()))
}

/// Sets a sender, new or again. One that is the default takes the place of the one before.
#[utoipa::path(put, path = "/api/v1/senders/{name}", tag = "reminders", request_body = SenderBody,
    params(("name" = String, Path, description = "Letters, digits, `-` and `_`")),
    responses((status = 200, body = SenderView), (status = 201, body = SenderView),
        (status = 400, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn set(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Name(name): Name,
    Json(body): Json<SenderBody>,
) -> Result<(StatusCode, JsonAnswer<SenderView>), Problem> {
    let settings = SenderSettings {
        host: body.host,
        port: body.port,
        security: body.security,
        from: body.from,
        user: body.user,
        password_secret: body.password_secret,
        ca_certificate: body.ca_certificate,
        url: body.url,
        url_secret: body.url_secret,
        signing_secret: body.signing_secret,
    };
    let (sender, created) =
        state.node.engine.set_sender(&tenant, &name, &body.channel, body.default, settings).await?;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, JsonAnswer(sender.into())))
}

/// Forgets a sender. Notes that need it are tried again for a while, and given up then.
#[utoipa::path(delete, path = "/api/v1/senders/{name}", tag = "reminders",
    params(("name" = String, Path, description = "The sender")),
    responses((status = 204), (status = 404, body = ProblemBody)))]
pub(super) async fn delete(
    State(state): State<AppState>,
    Operator(tenant): Operator,
    Name(name): Name,
) -> Result<StatusCode, Problem> {
    state.node.engine.delete_sender(&tenant, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
