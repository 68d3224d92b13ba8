//! Tokens: made once, stored as a hash, compared in constant time.

use rand::RngExt as _;
use subtle::ConstantTimeEq as _;

use super::port::write::TokenRevoked;
use super::port::{Verdict, Write, WriteSet};
use super::{Engine, Error, NewToken};
use crate::domain::id::hex;
use crate::domain::token::{Role, Token};
use crate::domain::{Digest, TenantId, Timestamp, TokenId};

/// What every secret begins with, so that scanners and people know it when they see it.
const PREFIX: &str = "stw_";
/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;
/// The longest name of a token.
const NAME_BYTES_MAX: usize = 200;

impl Engine {
    /// Makes a token. Its secret is shown this once.
    pub async fn create_token(
        &self,
        tenant: &TenantId,
        role: Role,
        name: &str,
        expires_at: Option<Timestamp>,
    ) -> Result<NewToken, Error> {
        if name.len() > NAME_BYTES_MAX {
            let message = format!("a token's name has at most {NAME_BYTES_MAX} bytes");
            return Err(Error::invalid("invalid_request", message));
        }
        let random: [u8; SECRET_BYTES] = rand::rng().random();
        let random = hex(&random);
        let token = Token {
            id: TokenId::new(),
            tenant: tenant.clone(),
            role,
            name: name.to_owned(),
            secret_hash: hash(&random),
            created_at: self.parts.clock.now(),
            expires_at,
            revoked_at: None,
        };
        let secret = format!("{PREFIX}{}_{random}", token.id.0.simple());
        self.write(Write::InsertToken(token.clone())).await?;
        Ok(NewToken { token, secret })
    }

    /// Makes a token invalid, from now on.
    pub async fn revoke_token(&self, tenant: &TenantId, id: TokenId) -> Result<(), Error> {
        match self.parts.store.token(id).await? {
            Some(token) if token.tenant == *tenant => {
                let at = self.parts.clock.now();
                self.write(Write::RevokeToken(TokenRevoked { tenant: tenant.clone(), id, at })).await
            }
            _ => Err(Error::not_found("token_not_found", format!("there is no token {id}"))),
        }
    }

    /// The token that a bearer's secret belongs to, if it is valid now.
    pub async fn authenticate(&self, secret: &str) -> Result<Option<Token>, Error> {
        let Some((id, random)) = secret.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')) else {
            return Ok(None);
        };
        let Ok(id) = id.parse::<TokenId>() else { return Ok(None) };
        let Some(token) = self.parts.store.token(id).await? else { return Ok(None) };
        let same: bool = hash(random).as_bytes().ct_eq(token.secret_hash.as_bytes()).into();
        let now = self.parts.clock.now();
        let valid = token.revoked_at.is_none() && token.expires_at.is_none_or(|end| now < end);
        Ok((same && valid).then_some(token))
    }

    /// Writes one row that belongs to no instance.
    pub(super) async fn write(&self, write: Write) -> Result<(), Error> {
        let set = WriteSet { writes: vec![write], ..WriteSet::default() };
        match self.committer.commit(set).await? {
            Verdict::Refused(reason) => {
                Err(Error::unprocessable("data_refused", format!("the database cannot store this: {reason}")))
            }
            _ => Ok(()),
        }
    }
}

fn hash(random: &str) -> String {
    Digest::of(random.as_bytes()).to_string()
}
