//! Settings of a host: flags first, then `STEPWELL_*` variables, then a TOML file, then defaults.

mod with_kafka;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::with_kafka::KafkaFile;
pub use self::with_kafka::KafkaFlags;
use crate::dispatch::kafka;
use crate::domain::address::AllowHosts;
use crate::domain::limits::Limits;
use crate::domain::plugin::LimitOverrides;
use crate::telemetry::LogFormat;

/// The file that is read if none is named and it exists.
pub const DEFAULT_FILE: &str = "stepwell.toml";
/// Where a host listens if nothing is said: this machine only.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:8080";
/// Where a host keeps its files if nothing is said.
pub const DEFAULT_DATA: &str = "stepwell-data";
/// How long the journal of an ended instance is kept if nothing is said.
const KEEP_JOURNALS_DEFAULT: &str = "30d";
const KEEP_WAITS_DEFAULT: &str = "30d";
const KEEP_REJECTED_DEFAULT: &str = "7d";
/// The word for no end.
const FOREVER: &str = "forever";

/// What can be said on the command line or by variables.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Flags {
    /// A TOML file with settings; ./stepwell.toml is read if it exists.
    #[arg(long, env = "STEPWELL_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Address and port to listen on; port 0 picks a free one. [default: 127.0.0.1:8080]
    #[arg(long, env = "STEPWELL_LISTEN", value_name = "ADDR")]
    pub listen: Option<String>,
    /// sqlite:PATH or postgres://USER@HOST/NAME. [default: SQLite in the data folder]
    #[arg(long, env = "STEPWELL_DATABASE", value_name = "URL", hide_env_values = true)]
    pub database: Option<String>,
    /// Folder for the SQLite database and for compiled plugins. [default: ./stepwell-data]
    #[arg(long, env = "STEPWELL_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder with more plugins (*.wasm); a file dropped there is served without a restart.
    #[arg(long, env = "STEPWELL_PLUGINS", value_name = "DIR")]
    pub plugins: Option<PathBuf>,
    /// The name of this host in logs and traces (INSTANCE_ID is read too). [default: made up]
    #[arg(long, env = "STEPWELL_NODE_ID", value_name = "NAME")]
    pub node_id: Option<String>,
    /// OTLP/HTTP collector for traces, such as http://127.0.0.1:4318.
    #[arg(long, env = "STEPWELL_OTLP", value_name = "ENDPOINT")]
    pub otlp: Option<String>,
    /// Which log lines are written, such as info or stepwell=debug,info. [default: info]
    #[arg(long, env = "STEPWELL_LOG", value_name = "FILTER")]
    pub log: Option<String>,
    /// How log lines look. [default: text]
    #[arg(long, env = "STEPWELL_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// How long ended instances are kept: 90d, 12h, or forever. [default: forever]
    #[arg(long, env = "STEPWELL_KEEP_INSTANCES", value_name = "TIME")]
    pub keep_instances: Option<String>,
    /// How long the journal of an ended instance is kept. [default: 30d]
    #[arg(long, env = "STEPWELL_KEEP_JOURNALS", value_name = "TIME")]
    pub keep_journals: Option<String>,
    /// How long a wait for events is shown after its end. [default: 30d]
    #[arg(long, env = "STEPWELL_KEEP_WAITS", value_name = "TIME")]
    pub keep_waits: Option<String>,
    /// How long a refused event is shown; of a tenant the newest 10,000 at most. [default: 7d]
    #[arg(long, env = "STEPWELL_KEEP_REJECTED", value_name = "TIME")]
    pub keep_rejected: Option<String>,
    /// Whether external tasks have priorities; if not, all have the same, whatever workflows say. [default: true]
    #[arg(long, env = "STEPWELL_TASK_PRIORITIES", value_name = "true|false")]
    pub task_priorities: Option<bool>,
    /// File with the keys that seal secrets, one on each line, the newest first; STEPWELL_SECRET_KEY has the keys
    /// themselves. [default: one that is made in the data folder]
    #[arg(long, env = "STEPWELL_SECRET_KEY_FILE", value_name = "FILE")]
    pub secret_key_file: Option<PathBuf>,
    /// Where requests may go to besides the internet: hosts with or without a port, networks such as 10.0.0.0/8,
    /// divided by commas. [default: nowhere]
    #[arg(long, env = "STEPWELL_ALLOW_HOSTS", value_name = "LIST")]
    pub allow_hosts: Option<String>,
    /// How to use Kafka.
    #[command(flatten)]
    pub kafka: KafkaFlags,
}

/// What a host runs with.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// The file that was read, if any.
    pub config: Option<PathBuf>,
    /// Address and port, or a name that resolves to one.
    pub listen: String,
    /// `sqlite:PATH` or `postgres://…`.
    #[serde(serialize_with = "without_password")]
    pub database: String,
    /// Folder for files.
    pub data: PathBuf,
    /// Folder with more plugins.
    pub plugins: Option<PathBuf>,
    /// This host's name.
    pub node_id: String,
    /// Collector for traces.
    pub otlp: Option<String>,
    /// Which log lines are written.
    pub log: String,
    /// How log lines look.
    pub log_format: LogFormat,
    /// How long ended instances are kept; none is for ever.
    #[serde(serialize_with = "as_seconds")]
    pub keep_instances: Option<Duration>,
    /// How long journals of ended instances are kept; none is for ever.
    #[serde(serialize_with = "as_seconds")]
    pub keep_journals: Option<Duration>,
    /// How long waits are kept after their end; none is for ever.
    #[serde(serialize_with = "as_seconds")]
    pub keep_waits: Option<Duration>,
    /// How long refused events are kept; none is for ever.
    #[serde(serialize_with = "as_seconds")]
    pub keep_rejected: Option<Duration>,
    /// Whether external tasks have priorities.
    pub task_priorities: bool,
    /// File with the keys that seal secrets.
    pub secret_key_file: Option<PathBuf>,
    /// The keys themselves, if a variable has them.
    #[serde(skip)]
    pub secret_key: Option<SecretKey>,
    /// Where requests may go to besides the internet.
    #[serde(serialize_with = "as_list")]
    pub allow_hosts: AllowHosts,
    /// How to use Kafka, if there is one.
    pub kafka: Option<kafka::Options>,
    /// Limits of the engine.
    pub limits: Limits,
    /// Limits of plugins.
    pub plugin_limits: LimitOverrides,
}

/// Keys that came in a variable: never shown.
#[derive(Clone)]
pub struct SecretKey(pub String);

impl SecretKey {
    /// The variable that has them.
    pub const VARIABLE: &str = "STEPWELL_SECRET_KEY";

    fn from_variable() -> Option<Self> {
        std::env::var(Self::VARIABLE).ok().filter(|keys| !keys.trim().is_empty()).map(Self)
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretKey")
    }
}

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

/// The TOML file. Names are those of the flags, with `_` or `-`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    listen: Option<String>,
    database: Option<String>,
    data: Option<PathBuf>,
    plugins: Option<PathBuf>,
    #[serde(alias = "node-id")]
    node_id: Option<String>,
    otlp: Option<String>,
    log: Option<String>,
    #[serde(alias = "log-format")]
    log_format: Option<LogFormat>,
    #[serde(alias = "keep-instances")]
    keep_instances: Option<String>,
    #[serde(alias = "keep-journals")]
    keep_journals: Option<String>,
    #[serde(alias = "keep-waits")]
    keep_waits: Option<String>,
    #[serde(alias = "keep-rejected")]
    keep_rejected: Option<String>,
    #[serde(alias = "task-priorities")]
    task_priorities: Option<bool>,
    #[serde(alias = "secret-key-file")]
    secret_key_file: Option<PathBuf>,
    #[serde(alias = "allow-hosts")]
    allow_hosts: Option<String>,
    kafka: KafkaFile,
    limits: toml::Table,
    plugin_limits: LimitOverrides,
}

impl Settings {
    /// Settles each setting: what the flags say (they have the variables in them), else the file, else the default.
    pub fn resolve(flags: Flags) -> Result<Self, Error> {
        let (config, file) = read_file(flags.config.as_deref())?;
        Self::settle(flags, config, file)
    }

    /// The same without a file: for a private host that must not depend on the folder it is started in.
    pub fn without_file(flags: Flags) -> Result<Self, Error> {
        Self::settle(flags, None, File::default())
    }

    fn settle(flags: Flags, config: Option<PathBuf>, file: File) -> Result<Self, Error> {
        let data = flags.data.or(file.data).unwrap_or_else(|| DEFAULT_DATA.into());
        let database = flags
            .database
            .or(file.database)
            .unwrap_or_else(|| format!("sqlite:{}", data.join("stepwell.db").display()));
        let keep = |name, chosen: Option<String>, default: &str| {
            parse_keep(chosen.as_deref().unwrap_or(default))
                .map_err(|message| Error(format!("{name}: {message}")))
        };
        Ok(Self {
            listen: flags.listen.or(file.listen).unwrap_or_else(|| DEFAULT_LISTEN.into()),
            plugins: flags.plugins.or(file.plugins),
            node_id: flags.node_id.or_else(instance_id).or(file.node_id).unwrap_or_else(made_up_name),
            otlp: flags.otlp.or(file.otlp).filter(|endpoint| !endpoint.is_empty()),
            log: flags.log.or(file.log).unwrap_or_else(|| "info".into()),
            log_format: flags.log_format.or(file.log_format).unwrap_or_default(),
            keep_instances: keep("keep_instances", flags.keep_instances.or(file.keep_instances), FOREVER)?,
            keep_journals: keep(
                "keep_journals",
                flags.keep_journals.or(file.keep_journals),
                KEEP_JOURNALS_DEFAULT,
            )?,
            keep_waits: keep("keep_waits", flags.keep_waits.or(file.keep_waits), KEEP_WAITS_DEFAULT)?,
            keep_rejected: keep(
                "keep_rejected",
                flags.keep_rejected.or(file.keep_rejected),
                KEEP_REJECTED_DEFAULT,
            )?,
            task_priorities: flags.task_priorities.or(file.task_priorities).unwrap_or(true),
            // A file that is named on the command line counts more than a variable.
            secret_key: SecretKey::from_variable().filter(|_| flags.secret_key_file.is_none()),
            secret_key_file: flags.secret_key_file.or(file.secret_key_file),
            allow_hosts: AllowHosts::parse(&flags.allow_hosts.or(file.allow_hosts).unwrap_or_default())
                .map_err(|message| Error(format!("allow_hosts: {message}")))?,
            kafka: flags.kafka.settle(file.kafka)?,
            limits: limits(file.limits)?,
            plugin_limits: file.plugin_limits,
            config,
            database,
            data,
        })
    }
}

/// A duration as people write it: `500ms`, `45s`, `90m`, `12h`, `30d`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let millis_per_unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => 0,
    };
    number
        .parse::<u64>()
        .ok()
        .filter(|_| millis_per_unit > 0)
        .and_then(|number| number.checked_mul(millis_per_unit))
        // Times are kept as signed milliseconds.
        .filter(|&millis| i64::try_from(millis).is_ok())
        .map(Duration::from_millis)
        .ok_or_else(|| format!("'{text}' is not a time: write a number with ms, s, m, h or d, such as 30d"))
}

/// A database's address as logs and errors may show it.
pub fn shown_database(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = path.split('?').next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}{path}")
        }
        None => format!("{scheme}://{authority}{path}"),
    }
}

fn parse_keep(text: &str) -> Result<Option<Duration>, String> {
    if text == FOREVER {
        return Ok(None);
    }
    parse_duration(text).map(Some).map_err(|message| format!("{message}, or {FOREVER}"))
}

fn read_file(named: Option<&Path>) -> Result<(Option<PathBuf>, File), Error> {
    let path = named.unwrap_or(Path::new(DEFAULT_FILE));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            return Ok((None, File::default()));
        }
        Err(error) => {
            return Err(Error(format!("the settings file {} cannot be read: {error}", path.display())));
        }
    };
    let file = toml::from_str(&text)
        .map_err(|error| Error(format!("the settings file {} is not valid: {error}", path.display())))?;
    Ok((Some(path.to_owned()), file))
}

/// The defaults, with what the file says put over them: a limit that is not one of ours is a mistake to name.
fn limits(table: toml::Table) -> Result<Limits, Error> {
    let mut known = serde_json::to_value(Limits::default())
        .map_err(|error| Error(format!("the default limits cannot be read: {error}")))?;
    for (name, value) in table {
        let number = value.as_integer().filter(|&number| number > 0);
        let Some(number) = number else {
            return Err(Error(format!("limits.{name} must be a whole number above zero")));
        };
        match known.get_mut(&name) {
            Some(slot) => *slot = Value::from(number),
            None => {
                let names = known.as_object().map(|all| all.keys().cloned().collect::<Vec<_>>().join(", "));
                let names = names.unwrap_or_default();
                return Err(Error(format!("limits.{name} is not a limit; there are: {names}")));
            }
        }
    }
    serde_json::from_value(known).map_err(|error| Error(format!("[limits]: {error}")))
}

fn instance_id() -> Option<String> {
    std::env::var("INSTANCE_ID").ok().filter(|name| !name.is_empty())
}

fn made_up_name() -> String {
    // The last group of a UUID v7 is random; the first would be the time.
    let id = uuid::Uuid::now_v7().simple().to_string();
    format!("node-{}", id.get(20..).unwrap_or_default())
}

fn without_password<S: serde::Serializer>(url: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&shown_database(url))
}

fn as_list<S: serde::Serializer>(allowed: &AllowHosts, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&allowed.to_string())
}

fn as_seconds<S: serde::Serializer>(keep: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match keep {
        Some(keep) => serializer.serialize_str(&format!("{}s", keep.as_secs())),
        None => serializer.serialize_str(FOREVER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(parse_duration("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        for wrong in ["", "30", "d", "-1d", "1.5h", "1w", "99999999999999999999d", "9999999999999d"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let shown = shown_database("postgres://me:secret@db:5432/steps?password=other");
        assert_eq!(shown, "postgres://me@db:5432/steps");
        assert_eq!(shown_database("sqlite:stepwell-data/stepwell.db"), "sqlite:stepwell-data/stepwell.db");
    }

    #[test]
    fn limits_keep_their_defaults_and_unknown_ones_are_named() {
        let table = |text: &str| text.parse::<toml::Table>().unwrap();
        let changed = limits(table("poll_tasks_max = 7")).unwrap();
        assert_eq!(changed.poll_tasks_max, 7);
        assert_eq!(changed.page_rows_max, Limits::default().page_rows_max);
        assert!(limits(table("pol_tasks_max = 7")).unwrap_err().to_string().contains("limits.pol_tasks_max"));
        assert!(
            limits(table("poll_tasks_max = 'x'")).unwrap_err().to_string().contains("limits.poll_tasks_max")
        );
    }
}
