//! Tokens: who may do what, for which tenant.

use serde::{Deserialize, Serialize};

use super::{TenantId, Timestamp, TokenId};

/// What a token may do. Each includes the ones before it, but `Sender` and `Worker` stand side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Polls for tasks and answers them.
    Worker,
    /// Sends events and callbacks.
    Sender,
    /// Deploys workflows, starts, cancels and resumes instances, reads everything of the tenant.
    Operator,
    /// Makes and revokes tokens, across tenants.
    Admin,
}

impl Role {
    /// Whether this role may do what `needed` may.
    pub fn covers(self, needed: Self) -> bool {
        match self {
            Self::Admin => true,
            Self::Operator => needed != Self::Admin,
            Self::Worker | Self::Sender => self == needed,
        }
    }

    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Sender => "sender",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// A token as stored: its hash, never its secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Token {
    /// The public part.
    pub id: TokenId,
    /// Whose it is.
    pub tenant: TenantId,
    /// What it may do.
    pub role: Role,
    /// What people call it.
    pub name: String,
    /// SHA-256 of the secret, in hex.
    pub secret_hash: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Not valid from then on.
    pub expires_at: Option<Timestamp>,
    /// Set when it was revoked.
    pub revoked_at: Option<Timestamp>,
}
