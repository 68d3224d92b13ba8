//! Runs the built binary, as a user would: commands to their end, hosts until they are told to stop.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// How long anything may take: a slow machine must not fail a test.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The binary beside the tests' own (`make build` makes it).
pub fn binary() -> PathBuf {
    beside_tests("stepwell", "build")
}

/// The same with places to die at (`make crashable` makes it).
pub fn crash_binary() -> PathBuf {
    beside_tests("stepwell-crash", "crashable")
}

/// The worker of `examples/workers/rust` (`make build` makes it).
pub fn example_worker() -> PathBuf {
    beside_tests("greeting-worker", "build")
}

fn beside_tests(name: &str, target: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a test knows its own file");
    let release = own.ancestors().nth(2).expect("tests are in target/release/deps");
    let path = release.join(name);
    assert!(path.is_file(), "{} is missing: run `make {target}` first", path.display());
    path
}

/// The top of the source tree.
pub fn source_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the tree is there")
}

/// A command of the binary, without the settings of whoever runs the tests.
pub fn stepwell(args: &[&str]) -> Command {
    command(&binary(), args)
}

/// A command of one of the binaries.
pub fn command(binary: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in std::env::vars() {
        if name.starts_with("STEPWELL_") || name == "INSTANCE_ID" {
            command.env_remove(name);
        }
    }
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    // A stepwell.toml where the tests are run is not theirs.
    command.current_dir(std::env::temp_dir());
    command
}

/// What a command that ran to its end left.
#[derive(Debug)]
pub struct Ran {
    /// The exit status; -1 if a signal ended it.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

impl Ran {
    /// The last line of stdout as JSON.
    pub fn json(&self) -> Value {
        let line = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("not JSON ({error}): {self:?}"))
    }

    /// Fails the test unless the status is this one.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// Runs a command of the binary to its end.
pub async fn run(args: &[&str]) -> Ran {
    finish(stepwell(args)).await
}

/// Runs any command to its end.
pub async fn finish(mut command: Command) -> Ran {
    let child = command.spawn().expect("the command can be started");
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output())
        .await
        .unwrap_or_else(|_| panic!("{command:?} did not end"))
        .expect("its output can be read");
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A running host.
#[derive(Debug)]
pub struct Host {
    /// Its address.
    pub url: String,
    /// What it said when it was ready.
    pub greeting: Value,
    child: Child,
    log: Lines,
}

type Lines = Arc<Mutex<Vec<String>>>;

impl Host {
    /// A host on a free port with SQLite in `data`, and more arguments.
    pub async fn on_sqlite(data: &TempDir, more: &[&str]) -> Self {
        let path = data.path().to_str().expect("a path of letters").to_owned();
        let args: Vec<&str> = ["--data", &path].into_iter().chain(more.iter().copied()).collect();
        Self::start(&args).await
    }

    /// `serve` on a free port, once it is ready.
    pub async fn start(args: &[&str]) -> Self {
        let all: Vec<&str> =
            ["serve", "--json", "--listen", "127.0.0.1:0"].into_iter().chain(args.iter().copied()).collect();
        Self::from_command(stepwell(&all)).await
    }

    /// A prepared `serve --json`, once it is ready.
    pub async fn from_command(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the host can be started");
        let log = collect(child.stderr.take().expect("stderr is piped"));
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let first = tokio::time::timeout(PATIENCE, stdout.next_line()).await;
        let Ok(Ok(Some(line))) = first else {
            panic!("the host did not come up ({first:?}): {:#?}", snapshot(&log));
        };
        let greeting: Value = serde_json::from_str(&line).expect("the greeting is JSON");
        let url = greeting["address"].as_str().expect("it has the address").to_owned();
        tokio::spawn(async move { while let Ok(Some(_)) = stdout.next_line().await {} });
        Self { url, greeting, child, log }
    }

    /// The address of a path.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Runs a client command against this host.
    pub async fn cli(&self, args: &[&str]) -> Ran {
        let all: Vec<&str> = args.iter().copied().chain(["--server", &self.url]).collect();
        run(&all).await
    }

    /// The same, for scripts: its JSON. Fails the test unless it succeeded.
    pub async fn cli_json(&self, args: &[&str]) -> Value {
        let all: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        self.cli(&all).await.exits(0).json()
    }

    /// Sends a signal, such as `TERM`.
    pub async fn signal(&self, name: &str) {
        let id = self.child.id().expect("the host runs");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("kill -{name} {id}"));
        let ran = finish(shell).await;
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// Waits for the end; its status, and the log.
    pub async fn ended(mut self) -> (ExitStatus, String) {
        let waited = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        let Ok(Ok(status)) = waited else { panic!("the host did not end: {}", self.log()) };
        (status, self.log())
    }

    /// Ends it in order.
    pub async fn stop(self) {
        self.signal("TERM").await;
        let (status, log) = self.ended().await;
        assert!(status.success(), "the host ended with {status}: {log}");
    }

    /// Ends it with no warning, as a power cut would.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("a running host can be killed");
    }

    /// Whether the process is still there.
    pub fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        snapshot(&self.log).join("\n")
    }
}

/// Asks again and again until there is an answer; fails the test, with `what`, when patience ends.
pub async fn eventually<T, F, W>(what: &str, mut ask: W) -> T
where
    F: Future<Output = Option<T>>,
    W: FnMut() -> F,
{
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < end, "waited in vain: {what}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// An HTTP client that no proxy comes between.
pub fn http() -> reqwest::Client {
    client().timeout(PATIENCE).build().expect("a client can be made")
}

/// The making of one that is patient in another way.
pub fn client() -> reqwest::ClientBuilder {
    stepwell::tls::provide();
    reqwest::Client::builder().no_proxy()
}

fn collect(stream: impl AsyncRead + Unpin + Send + 'static) -> Lines {
    let lines = Lines::default();
    let kept = Arc::clone(&lines);
    tokio::spawn(async move {
        let mut stream = BufReader::new(stream).lines();
        while let Ok(Some(line)) = stream.next_line().await {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    });
    lines
}

fn snapshot(lines: &Lines) -> Vec<String> {
    lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
