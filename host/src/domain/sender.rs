//! Senders: how a tenant's notes to people leave, on each channel. Secrets are named, never written.

use serde::{Deserialize, Serialize};
use stepwell_notice::{Channel, check_recipient};

use super::secret::{check_host, check_name};
use super::{TenantId, Timestamp};

/// Senders of one tenant.
pub const SENDERS_MAX: usize = 100;
/// The largest certificate, in bytes.
const CERTIFICATE_BYTES_MAX: usize = 16 << 10;
/// The longest name of a user, in bytes.
const USER_BYTES_MAX: usize = 320;

/// A row of `workflow_senders`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its name.
    pub name: String,
    /// `EMAIL`, `SLACK` or `WEBHOOK`.
    pub channel: String,
    /// Whether it is taken where a step names none.
    pub is_default: bool,
    /// The rest.
    pub settings: SenderSettings,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it got its settings.
    pub updated_at: Timestamp,
}

/// What a sender needs to know. Which of it depends on the channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SenderSettings {
    /// EMAIL: the mail server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// EMAIL: its port; 587, 465 or 25 by `security` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// EMAIL: how the connection is made safe; STARTTLS if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<Security>,
    /// EMAIL: the address that mails come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// EMAIL: who logs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// EMAIL: the secret that is the password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_secret: Option<String>,
    /// EMAIL: a certificate (PEM) that is trusted besides those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_certificate: Option<String>,
    /// SLACK, WEBHOOK: where notes without recipients go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The same as a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_secret: Option<String>,
    /// WEBHOOK: the secret that requests are signed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_secret: Option<String>,
}

/// How a connection to a mail server is made safe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Security {
    /// It begins in the open and is encrypted before anything is said; refused if the server cannot.
    #[default]
    StartTls,
    /// Encrypted from the first byte.
    Tls,
    /// Not at all: only to servers that the operator has allowed.
    None,
}

impl Security {
    /// The port where such servers usually are.
    pub fn port(self) -> u16 {
        match self {
            Self::StartTls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

impl SenderSettings {
    /// Whether they are those of a channel, or a sentence that begins with the field.
    pub fn check(&self, channel: Channel) -> Result<(), String> {
        let mail = [
            ("host", self.host.is_some()),
            ("port", self.port.is_some()),
            ("security", self.security.is_some()),
            ("from", self.from.is_some()),
            ("user", self.user.is_some()),
            ("passwordSecret", self.password_secret.is_some()),
            ("caCertificate", self.ca_certificate.is_some()),
        ];
        let web = [("url", self.url.is_some()), ("urlSecret", self.url_secret.is_some())];
        let signed = [("signingSecret", self.signing_secret.is_some())];
        let foreign: Vec<(&str, bool)> = match channel {
            Channel::Email => [&web[..], &signed].concat(),
            Channel::Slack => [&mail[..], &signed].concat(),
            Channel::Webhook => mail.to_vec(),
        };
        if let Some((field, _)) = foreign.iter().find(|(_, given)| *given) {
            return Err(format!("{field}: means nothing for {}", channel.label()));
        }
        for (field, secret) in [
            ("passwordSecret", &self.password_secret),
            ("urlSecret", &self.url_secret),
            ("signingSecret", &self.signing_secret),
        ] {
            secret.as_deref().map_or(Ok(()), check_name).map_err(|why| format!("{field}: {why}"))?;
        }
        match channel {
            Channel::Email => self.check_mail(),
            Channel::Slack | Channel::Webhook => self.check_web(channel),
        }
    }

    fn check_mail(&self) -> Result<(), String> {
        let host = self.host.as_deref().ok_or("host: is needed: the mail server")?;
        let sound = check_host(host).is_ok() && !host.starts_with("*.");
        let bare = host.parse::<std::net::IpAddr>().is_ok() || !host.contains(':');
        if !sound || !bare {
            return Err("host: is the name or the address of a mail server, without a port".into());
        }
        if self.port == Some(0) {
            return Err("port: is a number from 1 to 65535".into());
        }
        let from = self.from.as_deref().ok_or("from: is needed: the address that mails come from")?;
        check_recipient(Channel::Email, from).map_err(|why| format!("from: {why}"))?;
        if self.user.is_some() != self.password_secret.is_some() {
            return Err("user: and `passwordSecret` are given together".into());
        }
        let odd =
            |user: &String| user.is_empty() || user.len() > USER_BYTES_MAX || user.contains(char::is_control);
        if self.user.as_ref().is_some_and(odd) {
            return Err(format!("user: has 1 to {USER_BYTES_MAX} bytes, and no line breaks"));
        }
        match &self.ca_certificate {
            Some(pem)
                if pem.len() > CERTIFICATE_BYTES_MAX || !pem.contains("-----BEGIN CERTIFICATE-----") =>
            {
                Err(format!(
                    "caCertificate: is a certificate as PEM, of at most {CERTIFICATE_BYTES_MAX} bytes"
                ))
            }
            _ => Ok(()),
        }
    }

    fn check_web(&self, channel: Channel) -> Result<(), String> {
        if self.url.is_some() && self.url_secret.is_some() {
            return Err("urlSecret: cannot stand beside `url`; a sender has one of them".into());
        }
        let url = self.url.as_deref();
        url.map_or(Ok(()), |url| check_recipient(channel, url)).map_err(|why| format!("url: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(json: serde_json::Value) -> SenderSettings {
        serde_json::from_value(json).expect("settings")
    }

    #[test]
    fn settings_are_those_of_their_channel() {
        use serde_json::json;
        let mail = || json!({ "host": "mail.example.org", "from": "robot@example.org" });
        let with = |name: &str, value: serde_json::Value| {
            let mut all = mail();
            all[name] = value;
            all
        };
        for (channel, given, field) in [
            (Channel::Email, mail(), None),
            (Channel::Email, with("security", json!("TLS")), None),
            (Channel::Email, json!({ "from": "robot@example.org" }), Some("host: ")),
            (Channel::Email, json!({ "host": "mail.example.org" }), Some("from: ")),
            (Channel::Email, with("host", json!("mail.example.org:25")), Some("host: ")),
            (Channel::Email, with("host", json!("*.example.org")), Some("host: ")),
            (Channel::Email, with("from", json!("a@b.org\r\nX: y")), Some("from: ")),
            (Channel::Email, with("user", json!("robot")), Some("user: ")),
            (Channel::Email, with("passwordSecret", json!("a b")), Some("passwordSecret: ")),
            (Channel::Email, with("url", json!("https://a.org/")), Some("url: ")),
            (Channel::Email, with("caCertificate", json!("trust me")), Some("caCertificate: ")),
            (Channel::Slack, json!({ "urlSecret": "HOOK" }), None),
            (Channel::Slack, json!({ "url": "https://a.org/", "urlSecret": "HOOK" }), Some("urlSecret: ")),
            (Channel::Slack, json!({ "signingSecret": "KEY" }), Some("signingSecret: ")),
            (Channel::Webhook, json!({ "url": "https://a.org/", "signingSecret": "KEY" }), None),
            (Channel::Webhook, json!({ "url": "gopher://a.org/" }), Some("url: ")),
            (Channel::Webhook, mail(), Some("host: ")),
        ] {
            let checked = settings(given.clone()).check(channel);
            match field {
                None => assert_eq!(checked, Ok(()), "{given}"),
                Some(field) => assert!(checked.is_err_and(|why| why.starts_with(field)), "{given}"),
            }
        }
    }
}
