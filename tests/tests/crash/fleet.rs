//! Hosts as processes on one database: started, killed, started again.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result, ensure};
use rand::RngExt as _;
use rand::rngs::StdRng;
use stepwell::failpoint::{Point, VARIABLE};
use stepwell_tests::command::{Host, binary, command, crash_binary, source_root};
use stepwell_tests::db::TestDb;
use stepwell_tests::guests;
use tempfile::TempDir;

/// What ends a process that dies by itself, at a place it was told.
const SIGABRT: i32 = 6;

/// The hosts of a run.
pub struct Fleet {
    db: TestDb,
    data: PathBuf,
    plugins: TempDir,
    hosts: Mutex<HashMap<usize, Host>>,
}

impl Fleet {
    /// No host yet; each will have the step type `COURIER` beside the bundled ones.
    pub fn new(db: TestDb) -> Result<Self> {
        let plugins = tempfile::tempdir()?;
        std::fs::write(plugins.path().join("courier.wasm"), guests::courier())?;
        // Compiled plugins are shared: compiling them is most of what a start takes.
        let data = source_root().join("target/crash-data");
        Ok(Self { db, data, plugins, hosts: Mutex::default() })
    }

    /// Starts a host, as users have it.
    pub async fn start(&self, number: usize) -> Result<()> {
        self.start_binary(number, binary(), None).await
    }

    /// Starts a host that will die when it passes a place for the nth time.
    pub async fn start_to_die(&self, number: usize, point: Point, nth: u64) -> Result<()> {
        self.start_binary(number, crash_binary(), Some(format!("{}:{nth}", point.label()))).await
    }

    async fn start_binary(&self, number: usize, binary: PathBuf, failpoint: Option<String>) -> Result<()> {
        let text = |path: &std::path::Path| path.to_str().map(str::to_owned).context("a path of letters");
        let (data, plugins) = (text(&self.data)?, text(self.plugins.path())?);
        let flags = ["serve", "--json", "--listen", "127.0.0.1:0", "--database", self.db.url()];
        let folders = ["--data", &data, "--plugins", &plugins];
        let args: Vec<&str> = flags.into_iter().chain(folders).collect();
        let mut serve = command(&binary, &args);
        serve.env("STEPWELL_LOG", "warn");
        if let Some(failpoint) = failpoint {
            serve.env(VARIABLE, failpoint);
        }
        let host = Host::from_command(serve).await;
        let before = self.hosts().insert(number, host);
        ensure!(before.is_none(), "host {number} runs already");
        Ok(())
    }

    /// Ends a host with no warning. That it ran until now is checked.
    pub async fn kill(&self, number: usize) -> Result<()> {
        let mut host = self.hosts().remove(&number).context("no such host")?;
        ensure!(host.runs(), "host {number} ended by itself: {}", host.log());
        host.kill().await;
        Ok(())
    }

    /// Whether a host has died at the place that it was told.
    pub fn has_died(&self, number: usize) -> bool {
        self.hosts().get_mut(&number).is_some_and(|host| !host.runs())
    }

    /// Takes a dead host away. That it died where it was told, and not otherwise, is checked.
    pub async fn bury(&self, number: usize) -> Result<()> {
        let host = self.hosts().remove(&number).context("no such host")?;
        let (status, log) = host.ended().await;
        ensure!(status.signal() == Some(SIGABRT), "host {number} ended with {status}: {log}");
        Ok(())
    }

    /// Ends all hosts in order.
    pub async fn stop(&self) {
        let hosts = std::mem::take(&mut *self.hosts());
        for (_, host) in hosts {
            host.stop().await;
        }
    }

    /// The address of any host that runs, as far as is known.
    pub fn any(&self, random: &mut StdRng) -> Option<String> {
        let hosts = self.hosts();
        let urls: Vec<&String> = hosts.values().map(|host| &host.url).collect();
        (!urls.is_empty()).then(|| urls[random.random_range(0..urls.len())].clone())
    }

    /// What all hosts have logged.
    pub fn logs(&self) -> String {
        self.hosts().values().map(Host::log).collect::<Vec<_>>().join("\n")
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<usize, Host>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
