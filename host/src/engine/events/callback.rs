//! Callbacks: a called service tells its result, by both ids or by a token that nobody else can make.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq as _;

use super::deliver::Parcel;
use super::hear::Letter;
use super::{key_of, measure};
use crate::domain::id::hex;
use crate::domain::incoming::{EventSource, IncomingCallback, Receipt, RejectedEvent, Rejection};
use crate::domain::wait::{Listener, WaitState};
use crate::domain::{InstanceId, TenantId};
use crate::engine::keyring::authenticate;
use crate::engine::port::events::WaitKey;
use crate::engine::{Engine, Error};

/// What a callback's token leads to.
#[derive(Clone, Debug)]
pub struct CallbackTarget {
    /// The wait.
    wait: WaitState,
}

impl CallbackTarget {
    /// The ids that the callback need not bring.
    pub fn ids(&self) -> (String, String) {
        (self.wait.execution_id.to_string(), self.wait.correlation_id.clone())
    }

    /// Whose it is.
    pub fn tenant(&self) -> &TenantId {
        &self.wait.tenant
    }
}

impl Engine {
    /// Takes a callback in.
    pub async fn callback(
        self: &Arc<Self>,
        tenant: &TenantId,
        callback: IncomingCallback,
    ) -> Result<Receipt, Error> {
        self.check_payload("callback", &callback.payload)?;
        let Ok(execution_id) = callback.execution_id.parse::<InstanceId>() else {
            let row = RejectedEvent {
                execution_id: Some(callback.execution_id.chars().take(100).collect()),
                ..self.row(tenant.clone(), "callback", "", Rejection::UnknownExecution, None)
            };
            self.note_rejected(Rejection::UnknownExecution, row).await?;
            return Ok(Receipt::refused(Rejection::UnknownExecution));
        };
        let key =
            WaitKey { tenant: tenant.clone(), execution_id, correlation_id: callback.correlation_id.clone() };
        let receipt = self.hand_in(Parcel { key, letter: Letter::of_callback(&callback) }, None).await?;
        measure(EventSource::Callback, &receipt);
        Ok(receipt)
    }

    /// What a token leads to, if it is one of ours and its wait is known.
    pub async fn callback_target(&self, token: &str) -> Result<Option<CallbackTarget>, Error> {
        let Some((tenant, step)) = self.parts.keyring.read_callback_token(token) else { return Ok(None) };
        let wait = self.parts.store.wait_state(&tenant, step).await?;
        // Of several waits under one correlation id the newest hears: a token is for its own.
        let Some(wait) = wait else { return Ok(None) };
        let newest = self.parts.store.waits_for(&[key_of(&wait)]).await?.pop();
        Ok(newest.filter(|newest| newest.id == wait.id).map(|wait| CallbackTarget { wait }))
    }
}

/// Whether a callback has the signature that a listener asks for.
pub(super) async fn signed(
    engine: &Engine,
    wait: &WaitState,
    listener: &Listener,
    letter: &Letter,
) -> Result<bool, Error> {
    let Some(rule) = &listener.hmac else { return Ok(true) };
    let Some(body) = &letter.body else { return Ok(false) };
    let markers = engine.parts.keyring.markers(&wait.tenant, wait.id, &rule.secret);
    // Only a secret of the definition is a key: text that data brought is not.
    let [(marker, name)] = &markers[..] else { return Ok(false) };
    let key = match engine.open_secret(&wait.tenant, name).await {
        Ok((_, value)) if *marker == rule.secret => value,
        Err(error @ Error::Store(_)) => return Err(error),
        _ => return Ok(false),
    };
    let header = letter.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(&rule.header));
    let Some((_, sent)) = header else { return Ok(false) };
    Ok(agrees(sent, &authenticate(key.as_bytes(), body.as_bytes())))
}

/// Whether a header has the signature: hexadecimal digits or base64, with or without `sha256=` before it.
fn agrees(sent: &str, proof: &[u8; 32]) -> bool {
    let sent = sent.trim();
    let sent = sent.strip_prefix("sha256=").unwrap_or(sent);
    let as_hex = sent.to_ascii_lowercase().as_bytes().ct_eq(hex(proof).as_bytes());
    let as_base64 = sent.as_bytes().ct_eq(STANDARD.encode(proof).as_bytes());
    (as_hex | as_base64).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_taken_in_either_writing_and_nothing_else_is() {
        let proof = authenticate(b"key", b"body");
        for good in [
            hex(&proof),
            hex(&proof).to_uppercase(),
            format!("sha256={}", hex(&proof)),
            STANDARD.encode(proof),
        ] {
            assert!(agrees(&good, &proof), "{good}");
        }
        for bad in ["", "sha256=", "00", &hex(&authenticate(b"other", b"body")), &hex(&proof)[1..]] {
            assert!(!agrees(bad, &proof), "{bad}");
        }
    }
}
