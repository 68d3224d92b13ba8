//! The settings of Kafka: flags, variables and the table `[kafka]` of the file.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Error, parse_keep};
use crate::dispatch::kafka::{Certificate, Login, Mechanism, Options, Password, Security};
use crate::domain::{TenantId, topic};

/// The variable that has the password.
const PASSWORD_VARIABLE: &str = "STEPWELL_KAFKA_PASSWORD";
/// The consumer group, if nothing is said.
const GROUP_DEFAULT: &str = "stepwell";
/// Where records go that cannot be read, if nothing is said.
const DEAD_LETTERS_DEFAULT: &str = "stepwell.dead-letters";
/// How far back a topic is read that was never read, if nothing is said.
const LOOK_BACK_DEFAULT: &str = "10m";

/// What can be said of Kafka on the command line or by variables.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct KafkaFlags {
    /// Brokers of Kafka, HOST:PORT divided by commas: events come from there, and messages go there. [default: none]
    #[arg(long = "kafka", env = "STEPWELL_KAFKA", value_name = "BROKERS")]
    pub brokers: Option<String>,
    /// The consumer group of all hosts on one database. [default: stepwell]
    #[arg(long = "kafka-group", env = "STEPWELL_KAFKA_GROUP", value_name = "NAME")]
    pub group: Option<String>,
    /// How the wire to Kafka is protected. [default: plaintext]
    #[arg(
        long = "kafka-security",
        env = "STEPWELL_KAFKA_SECURITY",
        value_name = "PROTOCOL",
        ignore_case = true
    )]
    pub security: Option<Security>,
    /// How the password for Kafka is shown to be known.
    #[arg(long = "kafka-sasl", env = "STEPWELL_KAFKA_SASL", value_name = "MECHANISM", ignore_case = true)]
    pub sasl: Option<Mechanism>,
    /// The user name for Kafka.
    #[arg(long = "kafka-user", env = "STEPWELL_KAFKA_USER", value_name = "NAME")]
    pub user: Option<String>,
    /// File with the password for Kafka; STEPWELL_KAFKA_PASSWORD has the password itself.
    #[arg(long = "kafka-password-file", env = "STEPWELL_KAFKA_PASSWORD_FILE", value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// PEM file with the authorities that a broker's certificate is checked by. [default: those of the system]
    #[arg(long = "kafka-ca", env = "STEPWELL_KAFKA_CA", value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// PEM file with this host's own certificate for Kafka.
    #[arg(long = "kafka-certificate", env = "STEPWELL_KAFKA_CERTIFICATE", value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// PEM file with the key of that certificate.
    #[arg(long = "kafka-key", env = "STEPWELL_KAFKA_KEY", value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The tenant that records belong to, and that may send some. [default: default]
    #[arg(long = "kafka-tenant", env = "STEPWELL_KAFKA_TENANT", value_name = "TENANT")]
    pub tenant: Option<String>,
    /// The header of a record that names its tenant; only for topics whose writers may all be trusted with every
    /// tenant. [default: none]
    #[arg(long = "kafka-tenant-header", env = "STEPWELL_KAFKA_TENANT_HEADER", value_name = "NAME")]
    pub tenant_header: Option<String>,
    /// The topic for records that cannot be read. [default: stepwell.dead-letters]
    #[arg(long = "kafka-dead-letters", env = "STEPWELL_KAFKA_DEAD_LETTERS", value_name = "TOPIC")]
    pub dead_letters: Option<String>,
    /// How far back a topic is read that the group has never read: 10m, or forever. [default: 10m]
    #[arg(long = "kafka-look-back", env = "STEPWELL_KAFKA_LOOK_BACK", value_name = "TIME")]
    pub look_back: Option<String>,
}

/// The table `[kafka]`. Names are those of the flags without `kafka`, with `_` or `-`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct KafkaFile {
    brokers: Option<String>,
    group: Option<String>,
    security: Option<Security>,
    sasl: Option<Mechanism>,
    user: Option<String>,
    #[serde(alias = "password-file")]
    password_file: Option<PathBuf>,
    ca: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    tenant: Option<String>,
    #[serde(alias = "tenant-header")]
    tenant_header: Option<String>,
    #[serde(alias = "dead-letters")]
    dead_letters: Option<String>,
    #[serde(alias = "look-back")]
    look_back: Option<String>,
}

impl KafkaFlags {
    /// Settles each setting. Without brokers there is no Kafka, whatever else is said.
    pub(super) fn settle(self, file: KafkaFile) -> Result<Option<Options>, Error> {
        let Some(brokers) = self.brokers.or(file.brokers).filter(|brokers| !brokers.trim().is_empty()) else {
            return Ok(None);
        };
        let security = self.security.or(file.security).unwrap_or_default();
        let password_file = self.password_file.or(file.password_file);
        let login = login(security, self.sasl.or(file.sasl), self.user.or(file.user), password_file)?;
        let tenant = self.tenant.or(file.tenant).unwrap_or_else(|| TenantId::DEFAULT.into());
        let tenant: TenantId = tenant.parse().map_err(|message| wrong("tenant", message))?;
        let dead_letter_topic =
            self.dead_letters.or(file.dead_letters).unwrap_or_else(|| DEAD_LETTERS_DEFAULT.into());
        if !topic::is_legal(&dead_letter_topic) {
            return Err(wrong("dead_letters", format!("'{dead_letter_topic}' is no name of a topic")));
        }
        let look_back = self.look_back.or(file.look_back);
        let look_back = parse_keep(look_back.as_deref().unwrap_or(LOOK_BACK_DEFAULT));
        Ok(Some(Options {
            brokers: checked(&brokers)?,
            group: self.group.or(file.group).unwrap_or_else(|| GROUP_DEFAULT.into()),
            security,
            login,
            ca_file: self.ca.or(file.ca),
            certificate: own(self.certificate.or(file.certificate), self.key.or(file.key))?,
            tenant,
            tenant_header: self.tenant_header.or(file.tenant_header).filter(|name| !name.is_empty()),
            dead_letter_topic,
            look_back: look_back.map_err(|message| wrong("look_back", message))?,
        }))
    }
}

/// Each broker must have a port: the client would else take one that nobody meant.
fn checked(brokers: &str) -> Result<String, Error> {
    let all: Vec<&str> = brokers.split(',').map(str::trim).collect();
    for broker in &all {
        let port = broker.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
        if port.is_none_or(|port| port.parse::<u16>().is_err()) || broker.contains(char::is_whitespace) {
            return Err(wrong("brokers", format!("'{broker}' is not a broker: write HOST:PORT")));
        }
    }
    Ok(all.join(","))
}

fn login(
    security: Security,
    mechanism: Option<Mechanism>,
    user: Option<String>,
    password_file: Option<PathBuf>,
) -> Result<Option<Login>, Error> {
    if !security.logs_in() {
        return match (user, mechanism) {
            (None, None) => Ok(None),
            _ => Err(wrong(
                "security",
                "a user or mechanism is given, and nobody asks for it: say sasl_ssl or sasl_plaintext",
            )),
        };
    }
    let mechanism =
        mechanism.ok_or_else(|| wrong("sasl", "is missing: say plain, scram-sha-256 or scram-sha-512"))?;
    let user = user.ok_or_else(|| wrong("user", "is missing"))?;
    Ok(Some(Login { mechanism, user, password: password(password_file.as_deref())? }))
}

/// A file that is named counts more than the variable.
fn password(file: Option<&Path>) -> Result<Password, Error> {
    let text = match file {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| wrong("password_file", format!("{} cannot be read: {error}", path.display())))?,
        None => std::env::var(PASSWORD_VARIABLE)
            .map_err(|_| wrong("password_file", format!("is missing, and {PASSWORD_VARIABLE} is not set")))?,
    };
    Ok(Password(text.trim_end_matches(['\r', '\n']).to_owned()))
}

fn own(certificate: Option<PathBuf>, key: Option<PathBuf>) -> Result<Option<Certificate>, Error> {
    match (certificate, key) {
        (Some(certificate_file), Some(key_file)) => Ok(Some(Certificate { certificate_file, key_file })),
        (None, None) => Ok(None),
        _ => Err(wrong("certificate", "and key must be given together")),
    }
}

fn wrong(name: &str, message: impl std::fmt::Display) -> Error {
    Error(format!("kafka {name}: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(file: &str) -> Result<Option<Options>, Error> {
        KafkaFlags::default().settle(toml::from_str(file).expect("a table"))
    }

    #[test]
    fn without_brokers_there_is_no_kafka() {
        assert!(settle("group = 'a'").unwrap().is_none());
        let options = settle("brokers = 'a:9092, b:9093'").unwrap().expect("brokers");
        assert_eq!(options.brokers, "a:9092,b:9093");
        assert_eq!(options.tenant, TenantId::default());
        assert_eq!(options.tenant_header, None);
        assert_eq!(options.look_back, Some(std::time::Duration::from_secs(600)));
    }

    #[test]
    fn a_password_is_never_shown() {
        let path = std::env::temp_dir().join(format!("stepwell-kafka-password-{}", uuid::Uuid::now_v7()));
        std::fs::write(&path, "hunter2\n").unwrap();
        let file = format!(
            "brokers = 'a:1'\nsecurity = 'sasl_ssl'\nsasl = 'scram-sha-256'\nuser = 'me'\npassword-file = '{}'",
            path.display()
        );
        let options = settle(&file).unwrap().expect("brokers");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(options.login.as_ref().map(|login| login.password.0.as_str()), Some("hunter2"));
        let shown = format!("{options:?} {}", serde_json::to_string(&options).unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (file, named) in [
            ("brokers = 'a'", "kafka brokers"),
            ("brokers = 'a:1,:2'", "kafka brokers"),
            ("brokers = 'a:1'\nuser = 'me'", "kafka security"),
            ("brokers = 'a:1'\nsecurity = 'sasl_ssl'", "kafka sasl"),
            ("brokers = 'a:1'\nsecurity = 'sasl_ssl'\nsasl = 'plain'", "kafka user"),
            ("brokers = 'a:1'\ncertificate = 'x'", "kafka certificate"),
            ("brokers = 'a:1'\ntenant = 'No Tenant'", "kafka tenant"),
            ("brokers = 'a:1'\ndead_letters = '^all'", "kafka dead_letters"),
            ("brokers = 'a:1'\nlook_back = 'long'", "kafka look_back"),
        ] {
            let error = settle(file).expect_err(file).to_string();
            assert!(error.starts_with(named), "{file}: {error}");
        }
    }
}
