//! Markers become secrets, as a request leaves and nowhere else.

use crate::domain::secret::Secret;
use crate::domain::{StepExecutionId, TenantId};
use crate::engine::{Engine, Error};

/// A value shorter than this is not looked for in an answer: it would be found everywhere.
const SCRUBBED_BYTES_MIN: usize = 4;

/// A part of a request (address, header, body) with its secrets put in.
const REVEALED_BYTES_MAX: usize = 4 << 20;

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

    /// One secret that is open already, and stands in no text.
    pub(super) fn opened(secret: Secret, value: String) -> Self {
        // No text has a NUL in it.
        Self { found: vec![Found { marker: "\0".into(), secret, value }] }
    }

    /// Whether a text has a secret in it.
    pub(super) fn stands_in(&self, text: &str) -> bool {
        self.found.iter().any(|found| text.contains(&found.marker))
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// A text with the secrets put in.
    pub(super) fn put_into(&self, text: &str) -> Result<String, String> {
        self.replace(text, |value| value.to_owned())
    }

    /// The same for a text that is JSON: what a secret has in it cannot end its string.
    pub(super) fn put_into_json(&self, text: &str) -> Result<String, String> {
        self.replace(text, in_json)
    }

    /// Whether all of them may go to a host; the sentence is about the first that may not.
    /// It does not name the host, which may itself be a secret.
    pub(super) fn granted_to(&self, host: &str, port: u16) -> Result<(), String> {
        let refused = self.found.iter().find(|found| !found.secret.granted_to(host, port));
        refused.map_or(Ok(()), |found| {
            Err(format!(
                "the secret `{}` is not granted to the host of this request: set it again with that host",
                found.secret.name
            ))
        })
    }

    /// A text without the secrets, in every way in which they may have been written: a receiver may send back what
    /// it got. The longest go first, since one may be the beginning of another.
    pub(super) fn scrub(&self, text: &str) -> String {
        let told = self.found.iter().filter(|found| found.value.len() >= SCRUBBED_BYTES_MIN);
        let mut forms: Vec<(String, &str)> = told
            .flat_map(|found| {
                let name = found.secret.name.as_str();
                [found.value.clone(), in_json(&found.value), in_address(&found.value)]
                    .map(|form| (form, name))
            })
            .collect();
        forms.sort_by(|one, other| other.0.len().cmp(&one.0.len()).then_with(|| one.cmp(other)));
        forms.dedup();
        forms.into_iter().fold(text.to_owned(), |text, (form, name)| {
            if text.contains(&form) { text.replace(&form, &format!("[secret {name}]")) } else { text }
        })
    }

    fn replace(&self, text: &str, written: impl Fn(&str) -> String) -> Result<String, String> {
        let mut text = text.to_owned();
        for found in &self.found {
            let value = written(&found.value);
            let bytes = text.len() + text.matches(&found.marker).count() * value.len();
            if bytes > REVEALED_BYTES_MAX {
                return Err(format!(
                    "with its secrets a part of it has more than {REVEALED_BYTES_MAX} bytes"
                ));
            }
            text = text.replace(&found.marker, &value);
        }
        Ok(text)
    }
}

/// A value as it stands in a string of JSON.
fn in_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// A value as it stands in an address.
fn in_address(value: &str) -> String {
    let Ok(mut url) = reqwest::Url::parse("http://host/") else { return value.to_owned() };
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.push(value);
    }
    url.path().trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Timestamp;

    fn revealed(values: &[(&str, &str)]) -> Revealed {
        let found = |(name, value): &(&str, &str)| Found {
            marker: format!("<{name}>"),
            secret: Secret {
                tenant: TenantId::default(),
                name: (*name).to_owned(),
                hosts: Vec::new(),
                sealed: String::new(),
                key_id: String::new(),
                version: 1,
                created_at: Timestamp::from_millis(0),
                updated_at: Timestamp::from_millis(0),
            },
            value: (*value).to_owned(),
        };
        Revealed { found: values.iter().map(found).collect() }
    }

    #[test]
    fn an_echo_is_scrubbed_however_it_is_written() {
        let revealed = revealed(&[("A", "pass"), ("B", "pass \"word\"")]);
        let echo = r#"pass, pass "word", pass \"word\", pass%20%22word%22"#;
        assert_eq!(revealed.scrub(echo), "[secret A], [secret B], [secret B], [secret B]");
    }

    #[test]
    fn a_refusal_does_not_name_the_host_and_a_request_does_not_grow_without_bound() {
        let revealed = revealed(&[("A", &"x".repeat(1 << 20))]);
        assert!(!revealed.granted_to("hunter2", 443).unwrap_err().contains("hunter2"));
        assert_eq!(revealed.put_into("-<A>-").map(|text| text.len()), Ok((1 << 20) + 2));
        assert!(revealed.put_into(&"<A>".repeat(10)).is_err());
    }
}
