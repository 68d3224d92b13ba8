//! Markers become secrets, as a request leaves and nowhere else.

use crate::domain::secret::Secret;
use crate::domain::{StepExecutionId, TenantId};
use crate::engine::{Engine, Error};

/// A value shorter than this is not looked for in an answer: it would be found everywhere.
const SCRUBBED_BYTES_MIN: usize = 4;

/// The secrets of one request, opened.
#[derive(Default)]
pub(super) struct Revealed {
    found: Vec<Found>,
}

struct Found {
    /// What stands for it in the request.
    marker: String,
    secret: Secret,
    value: String,
}

impl Revealed {
    /// Opens the secrets whose markers stand in these texts. Only markers of the step that sends count.
    pub(super) async fn of<'a>(
        engine: &Engine,
        tenant: &TenantId,
        step: StepExecutionId,
        texts: impl Iterator<Item = &'a str>,
    ) -> Result<Self, Error> {
        let mut markers: Vec<(String, String)> =
            texts.flat_map(|text| engine.keyring().markers(tenant, step, text)).collect();
        markers.sort();
        markers.dedup();
        let mut revealed = Self::default();
        for (marker, name) in markers {
            let (secret, value) = engine.open_secret(tenant, &name).await?;
            revealed.found.push(Found { marker, secret, value });
        }
        Ok(revealed)
    }

    /// Whether a text has a secret in it.
    pub(super) fn stands_in(&self, text: &str) -> bool {
        self.found.iter().any(|found| text.contains(&found.marker))
    }

    /// A text with the secrets put in.
    pub(super) fn put_into(&self, text: &str) -> String {
        self.replace(text, |value| value.to_owned())
    }

    /// The same for a text that is JSON: what a secret has in it cannot end its string.
    pub(super) fn put_into_json(&self, text: &str) -> String {
        self.replace(text, |value| {
            let quoted = serde_json::Value::from(value).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        })
    }

    /// Whether all of them may go to a host; the sentence is about the first that may not.
    pub(super) fn granted_to(&self, host: &str, port: u16) -> Result<(), String> {
        let refused = self.found.iter().find(|found| !found.secret.granted_to(host, port));
        refused.map_or(Ok(()), |found| {
            Err(format!(
                "the secret `{}` is not granted to {host}:{port}: set it again with that host",
                found.secret.name
            ))
        })
    }

    /// A text without the secrets: a receiver may send back what it got.
    pub(super) fn scrub(&self, text: &str) -> String {
        let told = self.found.iter().filter(|found| found.value.len() >= SCRUBBED_BYTES_MIN);
        told.fold(text.to_owned(), |text, found| {
            if text.contains(&found.value) {
                text.replace(&found.value, &format!("[secret {}]", found.secret.name))
            } else {
                text
            }
        })
    }

    fn replace(&self, text: &str, written: impl Fn(&str) -> String) -> String {
        self.found
            .iter()
            .fold(text.to_owned(), |text, found| text.replace(&found.marker, &written(&found.value)))
    }
}
