//! How a host talks to Kafka: where it is, who we are there, and whose its records are.

use std::path::PathBuf;
use std::time::Duration;

use rdkafka::ClientConfig;
use serde::{Deserialize, Serialize};

use crate::domain::TenantId;

/// The pause between two tries to reach a broker that is away, at most.
const RECONNECT_MS_MAX: u32 = 2_000;
/// How long a broker has for an answer.
const ANSWER_MS_MAX: u32 = 10_000;

/// What a host has to know.
#[derive(Clone, Debug, Serialize)]
pub struct Options {
    /// `HOST:PORT`, divided by commas.
    pub brokers: String,
    /// The consumer group of all hosts.
    pub group: String,
    /// How the wire is protected.
    pub security: Security,
    /// Who we are, where the wire asks for it.
    pub login: Option<Login>,
    /// Whom to trust; the system's list, if absent.
    pub ca_file: Option<PathBuf>,
    /// Our own certificate, with its key.
    pub certificate: Option<Certificate>,
    /// Whose the records are.
    pub tenant: TenantId,
    /// The header of a record that names another tenant; nobody can, if absent.
    pub tenant_header: Option<String>,
    /// Where records go that cannot be read.
    pub dead_letter_topic: String,
    /// How far back a topic is read that the group has never read; from its beginning, if absent.
    pub look_back: Option<Duration>,
}

/// How the wire is protected; the words are Kafka's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Security {
    /// Not at all.
    #[default]
    Plaintext,
    /// By TLS.
    Ssl,
    /// By a password alone.
    SaslPlaintext,
    /// By TLS and a password.
    SaslSsl,
}

impl Security {
    /// Whether a password is asked for.
    pub fn logs_in(self) -> bool {
        matches!(self, Self::SaslPlaintext | Self::SaslSsl)
    }

    fn label(self) -> &'static str {
        match self {
            Self::Plaintext => "plaintext",
            Self::Ssl => "ssl",
            Self::SaslPlaintext => "sasl_plaintext",
            Self::SaslSsl => "sasl_ssl",
        }
    }
}

/// How a password is shown to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// By saying it.
    Plain,
    /// Without saying it, with SHA-256.
    #[serde(rename = "scram-sha-256")]
    #[value(name = "scram-sha-256")]
    ScramSha256,
    /// Without saying it, with SHA-512.
    #[serde(rename = "scram-sha-512")]
    #[value(name = "scram-sha-512")]
    ScramSha512,
}

impl Mechanism {
    fn label(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

/// A name and a password.
#[derive(Clone, Debug, Serialize)]
pub struct Login {
    /// How the password is shown to be known.
    pub mechanism: Mechanism,
    /// The name.
    pub user: String,
    /// The password.
    #[serde(skip)]
    pub password: Password,
}

/// A password: never shown.
#[derive(Clone)]
pub struct Password(pub String);

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}

/// A certificate and its key, both PEM.
#[derive(Clone, Debug, Serialize)]
pub struct Certificate {
    /// The certificate, and those that vouch for it.
    pub certificate_file: PathBuf,
    /// Its key, without a password.
    pub key_file: PathBuf,
}

impl Options {
    /// What consumers and producers have in common.
    pub(super) fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", &self.brokers)
            .set("client.id", "stepwell")
            .set("security.protocol", self.security.label())
            .set("socket.timeout.ms", ANSWER_MS_MAX.to_string())
            .set("socket.keepalive.enable", "true")
            .set("reconnect.backoff.max.ms", RECONNECT_MS_MAX.to_string());
        if let Some(login) = &self.login {
            config
                .set("sasl.mechanisms", login.mechanism.label())
                .set("sasl.username", &login.user)
                .set("sasl.password", &login.password.0);
        }
        if let Some(file) = &self.ca_file {
            config.set("ssl.ca.location", file.to_string_lossy());
        }
        if let Some(own) = &self.certificate {
            config
                .set("ssl.certificate.location", own.certificate_file.to_string_lossy())
                .set("ssl.key.location", own.key_file.to_string_lossy());
        }
        config
    }

    /// Whether a tenant may send to Kafka: all of them if records say whose they are, else only the one they belong to.
    pub fn serves(&self, tenant: &TenantId) -> bool {
        self.tenant_header.is_some() || self.tenant == *tenant
    }
}
