//! Who asks: a token as `Bearer TOKEN`, or as the password of HTTP Basic, which is what Camunda's clients send.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use base64::Engine as _;

use super::error::CamundaError;
use crate::api::AppState;
use crate::api::access::{bearer, identify_by};
use crate::domain::TenantId;
use crate::domain::token::Role;

/// A worker.
pub(super) struct Worker(pub(super) TenantId);
/// An operator.
pub(super) struct Operator(pub(super) TenantId);

impl FromRequestParts<AppState> for Worker {
    type Rejection = CamundaError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, CamundaError> {
        caller(parts, state, Role::Worker).await.map(Self)
    }
}

impl FromRequestParts<AppState> for Operator {
    type Rejection = CamundaError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, CamundaError> {
        caller(parts, state, Role::Operator).await.map(Self)
    }
}

async fn caller(parts: &Parts, state: &AppState, role: Role) -> Result<TenantId, CamundaError> {
    let caller = identify_by(parts, state, secret).await?;
    tracing::Span::current().record("tenant", caller.tenant.as_str());
    Ok(caller.needs(role)?)
}

/// The token in the header. The user of HTTP Basic may be anything.
fn secret(header: &str) -> Option<String> {
    bearer(header).or_else(|| {
        let (scheme, credentials) = header.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let bytes = base64::engine::general_purpose::STANDARD.decode(credentials.trim()).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        text.split_once(':').map(|(_, password)| password.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::secret;

    #[test]
    fn a_token_comes_by_either_scheme() {
        assert_eq!(secret("Bearer stw_a").as_deref(), Some("stw_a"));
        // demo:stw_a
        assert_eq!(secret("Basic ZGVtbzpzdHdfYQ==").as_deref(), Some("stw_a"));
        for other in ["", "Basic", "Basic !!!", "Digest x", "Basic ZGVtbw=="] {
            assert_eq!(secret(other), None, "{other}");
        }
    }
}
