//! The host under load: a process of its own, so that its use of the machine can be told from the load's.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::super::Error;
use super::http::Connection;
use super::machine::{self, Use};

/// As many open files as the system allows: each poller is a connection.
const WITH_MANY_FILES: &str = r#"ulimit -n "$(ulimit -H -n)" 2>/dev/null; exec "$0" "$@""#;

/// How long an orderly end may take.
const STOP_MAX: Duration = Duration::from_secs(30);

/// A host that was started for a measurement.
pub(super) struct Host {
    child: Child,
    /// `HOST:PORT`.
    pub(super) address: String,
    /// From the start of its process until it answered that it is ready.
    pub(super) ready_after: Duration,
    /// Whether its database is a server whose processes are on this machine.
    pub(super) database_is_local_server: bool,
}

impl Host {
    /// Starts this very binary on a free port and waits until it serves.
    pub(super) async fn start(database: &str, data: &Path) -> Result<Self, Error> {
        Self::start_with(database, data, &[]).await
    }

    /// The same with more arguments.
    pub(super) async fn start_with(database: &str, data: &Path, more: &[&str]) -> Result<Self, Error> {
        let failed =
            |why: String| Error::refused("bench_host", format!("the host under load did not start: {why}"));
        let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
        let begun = Instant::now();
        let mut child = Command::new("sh")
            .args(["-c", WITH_MANY_FILES])
            .arg(program)
            .args(["serve", "--json", "--log", "error", "--listen", "127.0.0.1:0", "--database", database])
            .arg("--data")
            .arg(data)
            .args(more)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let stdout = child.stdout.take().ok_or_else(|| failed("it has no output".into()))?;
        let mut lines = BufReader::new(stdout).lines();
        let line = lines.next_line().await.ok().flatten().ok_or_else(|| failed("it said nothing".into()))?;
        let said: Value = serde_json::from_str(&line).unwrap_or_default();
        let address = said["address"].as_str().ok_or_else(|| failed(line.clone()))?;
        let address = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let ready = get(&address, "/readyz").await.map_err(|error| failed(error.to_string()))?;
        if ready.0 != 200 {
            return Err(failed(format!("it is not ready: {}", ready.1)));
        }
        let ready_after = begun.elapsed();
        Ok(Self { child, address, ready_after, database_is_local_server: is_local_server(database) })
    }

    /// What it has used so far.
    pub(super) fn usage(&self) -> Use {
        machine::of_process(self.child.id().unwrap_or_default())
    }

    /// What it counts.
    pub(super) async fn figures(&self) -> Figures {
        Figures(get(&self.address, "/metrics").await.map(|(_, text)| text).unwrap_or_default())
    }

    /// Polls that wait on it.
    pub(super) async fn parked(&self) -> u64 {
        let answer = get(&self.address, "/healthz").await.map(|(_, text)| text).unwrap_or_default();
        let health: Value = serde_json::from_str(&answer).unwrap_or_default();
        health["parkedPolls"].as_u64().unwrap_or_default()
    }

    /// Ends it in order, so that the next one on this database has nothing to mend.
    pub(super) async fn stop(mut self) {
        if let Some(pid) = self.child.id() {
            let _ = Command::new("sh").arg("-c").arg(format!("kill -TERM {pid}")).status().await;
        }
        let _ = tokio::time::timeout(STOP_MAX, self.child.wait()).await;
    }
}

/// The text of `/metrics`.
pub(super) struct Figures(String);

impl Figures {
    /// The sum of a metric over all labels that contain `label`.
    pub(super) fn sum(&self, name: &str, label: &str) -> f64 {
        let lines = self.0.lines().filter_map(|line| Some((line.strip_prefix(name)?, line)));
        lines
            .filter(|(rest, _)| rest.starts_with([' ', '{']) && rest.contains(label))
            .filter_map(|(_, line)| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }
}

async fn get(address: &str, path: &str) -> std::io::Result<(u16, String)> {
    let answer = Connection::open(address).await?.send("GET", path, "").await?;
    Ok((answer.status, String::from_utf8_lossy(&answer.body).into_owned()))
}

fn is_local_server(database: &str) -> bool {
    let host = database.split_once("://").map(|(_, rest)| rest.rsplit('@').next().unwrap_or(rest));
    host.is_some_and(|host| {
        !database.starts_with("sqlite")
            && ["127.0.0.1", "localhost", "[::1]", "/"].iter().any(|local| host.starts_with(local))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_summed_over_its_labels() {
        let figures = Figures("a_total{kind=\"x\"} 2\na_total{kind=\"y\"} 3\na_total_more 9\nb 1\n".into());
        assert_eq!(figures.sum("a_total", ""), 5.0);
        assert_eq!(figures.sum("a_total", "kind=\"y\""), 3.0);
        assert_eq!(figures.sum("b", ""), 1.0);
        assert_eq!(figures.sum("c", ""), 0.0);
    }

    #[test]
    fn a_server_on_this_machine_is_known_by_its_address() {
        assert!(is_local_server("postgres://me:secret@127.0.0.1:5432/bench"));
        assert!(is_local_server("postgres://localhost/bench"));
        assert!(!is_local_server("postgres://me@db.example.com/bench"));
        assert!(!is_local_server("sqlite:///var/lib/x.db"));
    }
}
