//! Tokens of callbacks: they name a step execution, and nobody without the key can make one.

use subtle::ConstantTimeEq as _;

use super::Keyring;
use crate::domain::{StepExecutionId, TenantId};

/// What the proof of a token is over, in place of a secret's name, which cannot begin so.
const PURPOSE: &str = "\u{1f}callback";

impl Keyring {
    /// The token with which a service that was called by a step reaches it.
    pub fn callback_token(&self, tenant: &TenantId, step: StepExecutionId) -> String {
        let proof = self.keys.first().map(|key| key.proof(tenant, step, PURPOSE)).unwrap_or_default();
        format!("{tenant}.{}.{proof}", step.0.simple())
    }

    /// Whose step a token names, if it is one of ours.
    pub fn read_callback_token(&self, token: &str) -> Option<(TenantId, StepExecutionId)> {
        let (tenant, rest) = token.split_once('.')?;
        let (step, proof) = rest.split_once('.')?;
        let (tenant, step): (TenantId, StepExecutionId) = (tenant.parse().ok()?, step.parse().ok()?);
        let genuine =
            |key: &super::Key| key.proof(&tenant, step, PURPOSE).as_bytes().ct_eq(proof.as_bytes()).into();
        self.keys.iter().any(genuine).then_some((tenant, step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_to_its_step_and_cannot_be_made_up() {
        let (ring, other) = (Keyring::default(), Keyring::default());
        let (tenant, step) = ("a-b_c".parse::<TenantId>().unwrap(), StepExecutionId::new());
        let token = ring.callback_token(&tenant, step);
        assert_eq!(ring.read_callback_token(&token), Some((tenant.clone(), step)));
        assert_eq!(other.read_callback_token(&token), None);
        let proof = token.rsplit('.').next().unwrap();
        for bad in [
            String::new(),
            "a.b.c".into(),
            format!("other.{}.{proof}", step.0.simple()),
            format!("{tenant}.{}.{proof}", StepExecutionId::new().0.simple()),
            token[..token.len() - 1].to_owned(),
            format!("{token}0"),
        ] {
            assert_eq!(ring.read_callback_token(&bad), None, "{bad}");
        }
        let marker = ring.marker(&tenant, step, "callback");
        assert!(!marker.contains(proof), "a marker of a secret is no token");
    }
}
