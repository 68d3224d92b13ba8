//! The host under load: a process of its own, so that its use of the machine can be told from the load's.

use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::super::Error;
use super::http::Connection;

/// A host that was started for a measurement.
pub(super) struct Host {
    child: Child,
    /// `HOST:PORT`.
    pub(super) address: String,
}

/// What a host has used so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// Seconds of all its threads.
    pub(super) cpu_seconds: f64,
    /// Memory in use.
    pub(super) rss_bytes: u64,
    /// Bytes that it wrote itself (a database server's own are not in it).
    pub(super) written_bytes: u64,
}

impl Host {
    /// Starts this very binary on a free port and waits until it serves.
    pub(super) async fn start(database: &str, data: &std::path::Path) -> Result<Self, Error> {
        let failed =
            |why: String| Error::refused("bench_host", format!("the host under load did not start: {why}"));
        let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
        let mut child = Command::new(program)
            .args([
                "serve",
                "--json",
                "--log",
                "warn",
                "--listen",
                "127.0.0.1:0",
                "--database",
                database,
                "--data",
            ])
            .arg(data)
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
        Ok(Self { child, address })
    }

    /// What it has used so far, from /proc; zeros where there is none.
    pub(super) fn usage(&self) -> Use {
        let read = |name: &str| {
            let pid = self.child.id().unwrap_or_default();
            std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default()
        };
        let number = |text: &str, key: &str| {
            let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
            line.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok()).unwrap_or_default()
        };
        // After the name in parentheses: user and system time are the 12th and 13th fields, in hundredths.
        let stat = read("stat");
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|word| word.parse::<f64>().ok()).unwrap_or_default();
        Use {
            cpu_seconds: (ticks(11) + ticks(12)) / 100.0,
            rss_bytes: number(&read("status"), "VmRSS:") * 1024,
            written_bytes: number(&read("io"), "write_bytes:"),
        }
    }

    /// The sum of a metric over all its labels.
    pub(super) async fn metric(&self, name: &str) -> f64 {
        let Ok(mut connection) = Connection::open(&self.address).await else { return 0.0 };
        let Ok(answer) = connection.send("GET", "/metrics", "").await else { return 0.0 };
        String::from_utf8_lossy(&answer.body)
            .lines()
            .filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{'])))
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }
}
