//! The keys that seal secrets, and the markers that stand for them until a request leaves.
//!
//! The first key seals, every key opens: a new one is put before the old ones, the secrets are sealed again, and the
//! old ones are taken away.

mod callback;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac as _};
use rand::RngExt as _;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::domain::id::hex;
use crate::domain::secret::{Secret, check_name};
use crate::domain::{Digest, StepExecutionId, TenantId};

/// Bytes of a key.
const KEY_BYTES: usize = 32;
/// Bytes of a nonce: long enough to be random.
const NONCE_BYTES: usize = 24;
/// Keys at once.
const KEYS_MAX: usize = 20;
/// Begins a marker. The sign may stand in an address as it is.
const MARK: &str = "~secret~";
/// Hexadecimal digits of a marker's proof.
const PROOF_DIGITS: usize = 32;

/// Why a secret cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It was sealed with a key that this host does not have.
    #[error(
        "the secret `{name}` was sealed with the key {key_id}, which this host does not have: start it with the key \
         file of the host that sealed it, or set the secret again"
    )]
    OtherKey {
        /// The secret's name.
        name: String,
        /// The key's id.
        key_id: String,
    },
    /// Its row was changed, or belongs to somebody else.
    #[error("the secret `{0}` cannot be opened: its row was changed; set it again")]
    Broken(String),
}

/// All keys of a host.
pub struct Keyring {
    keys: Vec<Key>,
}

struct Key {
    id: String,
    cipher: XChaCha20Poly1305,
    marking: [u8; KEY_BYTES],
}

impl Keyring {
    /// Keys from text: one on each line, 32 bytes in base64 or hexadecimal digits; the first one seals.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let keys: Vec<Key> = lines
            .enumerate()
            .map(|(at, line)| {
                let bytes = read(line);
                bytes.map(|bytes| Key::new(&bytes)).ok_or_else(|| {
                    format!("key {} is not {KEY_BYTES} bytes in base64 or hexadecimal digits", at + 1)
                })
            })
            .collect::<Result<_, _>>()?;
        match keys.len() {
            0 => Err("there is no key".into()),
            1..=KEYS_MAX => Ok(Self { keys }),
            count => Err(format!("there are {count} keys; {KEYS_MAX} are enough")),
        }
    }

    /// A key that nobody had before, as text for [`Keyring::parse`].
    pub fn make_up() -> String {
        let bytes: [u8; KEY_BYTES] = rand::rng().random();
        STANDARD.encode(bytes)
    }

    /// The id of the key that seals.
    pub fn newest(&self) -> &str {
        self.keys.first().map_or("", |key| &key.id)
    }

    /// Seals a value for a tenant's secret; the key's id with it. Under another tenant or name it cannot be opened.
    pub fn seal(&self, tenant: &TenantId, name: &str, value: &str) -> Result<(String, String), Error> {
        let broken = || Error::Broken(name.to_owned());
        let key = self.keys.first().ok_or_else(broken)?;
        let nonce: [u8; NONCE_BYTES] = rand::rng().random();
        let bound = bound(tenant, name);
        let payload = Payload { msg: value.as_bytes(), aad: bound.as_bytes() };
        let sealed = key.cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| broken())?;
        Ok((STANDARD.encode([nonce.as_slice(), &sealed].concat()), key.id.clone()))
    }

    /// A secret's value.
    pub fn open(&self, secret: &Secret) -> Result<String, Error> {
        let broken = || Error::Broken(secret.name.clone());
        let key = self
            .keys
            .iter()
            .find(|key| key.id == secret.key_id)
            .ok_or_else(|| Error::OtherKey { name: secret.name.clone(), key_id: secret.key_id.clone() })?;
        let bytes = STANDARD.decode(&secret.sealed).map_err(|_| broken())?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or_else(broken)?;
        let bound = bound(&secret.tenant, &secret.name);
        let payload = Payload { msg: sealed, aad: bound.as_bytes() };
        let value = key.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| broken())?;
        String::from_utf8(value).map_err(|_| broken())
    }

    /// What stands for a secret in a step's configuration. Nobody without the key can make one, and one of another
    /// step means nothing.
    pub fn marker(&self, tenant: &TenantId, step: StepExecutionId, name: &str) -> String {
        let proof = self.keys.first().map(|key| key.proof(tenant, step, name)).unwrap_or_default();
        format!("{MARK}{name}~{proof}~")
    }

    /// The markers of a step that stand in a text, each with the secret's name. What only looks like one is text.
    pub fn markers(&self, tenant: &TenantId, step: StepExecutionId, text: &str) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for (at, _) in text.match_indices(MARK) {
            let Some((name, rest)) = text[at + MARK.len()..].split_once('~') else { continue };
            let Some(proof) = rest.get(..PROOF_DIGITS).filter(|_| rest[PROOF_DIGITS..].starts_with('~'))
            else {
                continue;
            };
            let genuine = check_name(name).is_ok()
                && self
                    .keys
                    .iter()
                    .any(|key| key.proof(tenant, step, name).as_bytes().ct_eq(proof.as_bytes()).into());
            let marker = format!("{MARK}{name}~{proof}~");
            if genuine && !found.iter().any(|(known, _)| *known == marker) {
                found.push((marker, name.to_owned()));
            }
        }
        found
    }
}

/// A key for one process: for tests, and where no secret is ever used.
impl Default for Keyring {
    fn default() -> Self {
        let bytes: [u8; KEY_BYTES] = rand::rng().random();
        Self { keys: vec![Key::new(&bytes)] }
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.id)).finish()
    }
}

impl Key {
    fn new(bytes: &[u8; KEY_BYTES]) -> Self {
        Self {
            id: Digest::of(&[b"stepwell key id ".as_slice(), bytes].concat()).short().to_owned(),
            cipher: XChaCha20Poly1305::new(bytes.into()),
            marking: authenticate(bytes, b"stepwell markers"),
        }
    }

    fn proof(&self, tenant: &TenantId, step: StepExecutionId, name: &str) -> String {
        let text = format!("{tenant}\u{1f}{step}\u{1f}{name}");
        let proof = hex(&authenticate(&self.marking, text.as_bytes()));
        proof.get(..PROOF_DIGITS).unwrap_or_default().to_owned()
    }
}

/// HMAC-SHA-256.
pub fn authenticate(key: &[u8], text: &[u8]) -> [u8; 32] {
    // A key of any length will do, so this cannot fail.
    let Ok(mut mac) = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key) else { return [0; 32] };
    mac.update(text);
    mac.finalize().into_bytes().into()
}

/// What a sealed value belongs to. The sign between cannot stand in either.
fn bound(tenant: &TenantId, name: &str) -> String {
    format!("{tenant}\u{1f}{name}")
}

fn read(line: &str) -> Option<[u8; KEY_BYTES]> {
    let digits = |at: usize| line.get(2 * at..2 * at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    if line.len() == 2 * KEY_BYTES && line.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let bytes: Option<Vec<u8>> = (0..KEY_BYTES).map(digits).collect();
        return bytes?.try_into().ok();
    }
    STANDARD.decode(line).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests;
