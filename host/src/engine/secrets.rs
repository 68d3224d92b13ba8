//! Secrets: set, forgotten, sealed again under another key. Only [`Engine::open_secret`] gives a value out.

use super::keyring::Keyring;
use super::port::outgoing::Named;
use super::port::{Write, WriteSet};
use super::{Engine, Error};
use crate::domain::TenantId;
use crate::domain::secret::{HOSTS_MAX, SECRETS_MAX, Secret, VALUE_BYTES_MAX, check_host, check_name};

/// Secrets that are sealed again in one transaction.
const RESEALED_MAX: u32 = 100;

impl Engine {
    /// Sets a secret's value and where it may be sent to; the secret, and whether it is a new one.
    pub async fn set_secret(
        &self,
        tenant: &TenantId,
        name: &str,
        value: &str,
        hosts: Vec<String>,
    ) -> Result<(Secret, bool), Error> {
        let invalid = |message: String| Error::invalid("secret_invalid", message);
        check_name(name).map_err(|sentence| invalid(format!("a secret's name {sentence}")))?;
        if value.is_empty() || value.len() > VALUE_BYTES_MAX {
            return Err(invalid(format!("a secret's value has 1 to {VALUE_BYTES_MAX} bytes")));
        }
        if hosts.is_empty() || hosts.len() > HOSTS_MAX {
            return Err(invalid(format!("a secret is granted to 1 to {HOSTS_MAX} hosts")));
        }
        hosts
            .iter()
            .try_for_each(|host| check_host(host))
            .map_err(|sentence| invalid(format!("hosts: {sentence}")))?;
        let known = self.parts.store.secrets(tenant, None).await?;
        let before = known.iter().find(|secret| secret.name == name);
        if before.is_none() && known.len() >= SECRETS_MAX {
            return Err(Error::conflict(
                "too_many_secrets",
                format!("a tenant has at most {SECRETS_MAX} secrets"),
            ));
        }
        let now = self.parts.clock.now();
        let (sealed, key_id) = self.parts.keyring.seal(tenant, name, value).map_err(unopened)?;
        let secret = Secret {
            tenant: tenant.clone(),
            name: name.to_owned(),
            sealed,
            key_id,
            hosts,
            version: before.map_or(1, |before| before.version + 1),
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
        };
        self.write(Write::UpsertSecret(secret.clone())).await?;
        Ok((secret, before.is_none()))
    }

    /// Forgets a secret.
    pub async fn delete_secret(&self, tenant: &TenantId, name: &str) -> Result<(), Error> {
        let named = [name.to_owned()];
        if self.parts.store.secrets(tenant, Some(&named)).await?.is_empty() {
            return Err(Error::not_found("secret_not_found", format!("there is no secret '{name}'")));
        }
        self.write(Write::DeleteSecret(Named { tenant: tenant.clone(), name: name.to_owned() })).await
    }

    /// Seals every secret of every tenant with the newest key; how many were under another one.
    pub async fn reseal_secrets(&self) -> Result<usize, Error> {
        let keyring = &self.parts.keyring;
        let (mut resealed, mut after, mut trouble) = (0, None, None);
        loop {
            let rows = self
                .parts
                .store
                .secrets_of_other_keys(keyring.newest(), after.as_ref(), RESEALED_MAX)
                .await?;
            // One that cannot be opened does not keep the others from their new key.
            let Some(last) = rows.last() else { return trouble.map_or(Ok(resealed), Err) };
            after = Some(Named { tenant: last.tenant.clone(), name: last.name.clone() });
            let mut writes = Vec::with_capacity(rows.len());
            for mut secret in rows {
                let value = match keyring.open(&secret) {
                    Ok(value) => value,
                    Err(error) => {
                        trouble.get_or_insert_with(|| unopened(error));
                        continue;
                    }
                };
                (secret.sealed, secret.key_id) =
                    keyring.seal(&secret.tenant, &secret.name, &value).map_err(unopened)?;
                writes.push(Write::ResealSecret(secret));
            }
            resealed += writes.len();
            self.committer.commit(WriteSet { writes, ..WriteSet::default() }).await?;
        }
    }

    /// The keys of this host.
    pub fn keyring(&self) -> &Keyring {
        &self.parts.keyring
    }

    /// A secret with its value. Only for what is about to be sent to a host that it is granted to.
    pub async fn open_secret(&self, tenant: &TenantId, name: &str) -> Result<(Secret, String), Error> {
        let named = [name.to_owned()];
        let Some(secret) = self.parts.store.secrets(tenant, Some(&named)).await?.pop() else {
            let message = format!("there is no secret `{name}`: set it with `stepwell secret set {name}`");
            return Err(Error::not_found("secret_not_found", message));
        };
        let value = self.parts.keyring.open(&secret).map_err(unopened)?;
        Ok((secret, value))
    }
}

fn unopened(error: super::keyring::Error) -> Error {
    let code = match error {
        super::keyring::Error::OtherKey { .. } => "secret_key_missing",
        super::keyring::Error::Broken(_) => "secret_broken",
    };
    Error::unprocessable(code, error.to_string())
}
