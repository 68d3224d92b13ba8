//! Who asks, for which tenant, and whether they may.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::request::Parts;

use super::AppState;
use super::error::Problem;
use crate::domain::token::{Role, Token};
use crate::domain::{Digest, TenantId, Timestamp};

/// Names the tenant where the caller may choose it.
pub(super) const TENANT_HEADER: &str = "x-stepwell-tenant";

/// How long a token is believed without asking the database: what a revocation takes at most on other hosts.
const BELIEVED: Duration = Duration::from_secs(3);
/// How many tokens are believed at once.
const BELIEVED_MAX: usize = 4_096;

/// Who asks.
pub(super) struct Caller {
    pub(super) tenant: TenantId,
    role: Role,
}

impl FromRequestParts<AppState> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let caller = identify(parts, state).await?;
        tracing::Span::current().record("tenant", caller.tenant.as_str());
        Ok(caller)
    }
}

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident => $role:expr),+ $(,)?) => {$(
        $(#[$doc])*
        pub(super) struct $name(pub(super) TenantId);

        impl FromRequestParts<AppState> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
                Caller::from_request_parts(parts, state).await?.needs($role).map(Self)
            }
        }
    )+};
}

roles! {
    /// The route needs a worker's token.
    Worker => Role::Worker,
    /// The route needs a sender's token.
    Sender => Role::Sender,
    /// The route needs an operator's token.
    Operator => Role::Operator,
    /// The route needs an admin's token.
    Admin => Role::Admin,
}

impl Caller {
    pub(super) fn needs(self, role: Role) -> Result<TenantId, Problem> {
        if self.role.covers(role) {
            return Ok(self.tenant);
        }
        let detail = format!("this needs the role {}; the token has {}", role.label(), self.role.label());
        Err(Problem::forbidden("forbidden", detail))
    }
}

async fn identify(parts: &Parts, state: &AppState) -> Result<Caller, Problem> {
    identify_by(parts, state, bearer).await
}

/// The token of `Bearer TOKEN`.
pub(super) fn bearer(header: &str) -> Option<String> {
    let (scheme, secret) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim().to_owned())
}

/// The same with another way to find the token in the Authorization header.
pub(super) async fn identify_by(
    parts: &Parts,
    state: &AppState,
    secret_of: fn(&str) -> Option<String>,
) -> Result<Caller, Problem> {
    let wanted = wanted_tenant(parts)?;
    let Some(header) = parts.headers.get(AUTHORIZATION) else {
        if state.node.open {
            refuse_other_sites(parts)?;
            return Ok(Caller { tenant: wanted.unwrap_or_default(), role: Role::Admin });
        }
        return Err(Problem::unauthorized("send `Authorization: Bearer TOKEN`; an admin makes tokens"));
    };
    let secret = header
        .to_str()
        .ok()
        .and_then(secret_of)
        .ok_or_else(|| Problem::unauthorized("the Authorization header is not `Bearer TOKEN`"))?;
    let Some(token) = state.tokens.authenticate(state, &secret).await? else {
        return Err(Problem::unauthorized("the token is unknown, expired or revoked"));
    };
    match wanted {
        Some(tenant) if tenant != token.tenant && token.role != Role::Admin => Err(Problem::forbidden(
            "tenant_forbidden",
            format!("the token belongs to the tenant {}, not to {tenant}", token.tenant),
        )),
        wanted => Ok(Caller { tenant: wanted.unwrap_or(token.tenant), role: token.role }),
    }
}

fn wanted_tenant(parts: &Parts) -> Result<Option<TenantId>, Problem> {
    let Some(header) = parts.headers.get(TENANT_HEADER) else { return Ok(None) };
    let name = header.to_str().unwrap_or_default();
    name.parse().map(Some).map_err(|reason: String| Problem::bad_request("invalid_tenant", reason))
}

/// An open host trusts whoever reaches it, so pages of other sites in a browser on this machine must not:
/// neither by a plain request nor by a name of theirs that suddenly points here.
fn refuse_other_sites(parts: &Parts) -> Result<(), Problem> {
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(HOST.as_str()).or_else(|| parts.uri.authority().map(axum::http::uri::Authority::as_str));
    let foreign_host = host.is_some_and(|host| !is_loopback(host));
    let foreign_origin = parts.headers.contains_key(ORIGIN)
        && !text(ORIGIN.as_str())
            .and_then(|origin| origin.split_once("://"))
            .is_some_and(|(_, host)| is_loopback(host));
    if foreign_host || foreign_origin || text("sec-fetch-site") == Some("cross-site") {
        return Err(Problem::forbidden(
            "cross_site_request",
            "this host is open to its own machine only: call it by 127.0.0.1 or localhost, or make a token and use that",
        ));
    }
    Ok(())
}

/// Whether `host` or `host:port` is this machine.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Tokens that were valid a moment ago.
#[derive(Default)]
pub(super) struct TokenCache {
    believed: Mutex<HashMap<Digest, (Instant, Token)>>,
}

impl TokenCache {
    async fn authenticate(&self, state: &AppState, secret: &str) -> Result<Option<Token>, Problem> {
        let name = Digest::of(secret.as_bytes());
        if let Some(token) = self.believed(&name, state.node.clock.now()) {
            return Ok(Some(token));
        }
        let token = state.node.engine.authenticate(secret).await?;
        if let Some(token) = &token {
            let mut believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
            if believed.len() >= BELIEVED_MAX {
                believed.retain(|_, (at, _)| at.elapsed() < BELIEVED);
            }
            if believed.len() < BELIEVED_MAX {
                believed.insert(name, (Instant::now(), token.clone()));
            }
        }
        Ok(token)
    }

    fn believed(&self, name: &Digest, now: Timestamp) -> Option<Token> {
        let believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, token) = believed.get(name)?;
        let valid = at.elapsed() < BELIEVED && token.expires_at.is_none_or(|end| end > now);
        valid.then(|| token.clone())
    }

    /// Believes nothing: a token was revoked.
    pub(super) fn forget(&self) {
        self.believed.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn loopback_has_several_names() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.9.9.9", "[::1]:8080", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["example.org", "127.0.0.1.example.org", "10.0.0.1:80", "localhost.evil", "", "[::2]:1"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
