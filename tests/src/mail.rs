//! A real mail server on loopback (aiosmtpd, Python, under `target/`): keeps every mail that it takes.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command as Blocking, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Context as _, Result};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::command::source_root;
use crate::host::until;

/// A mail as the server took it.
#[derive(Clone, Debug)]
pub struct Mail {
    /// Who sent it, by the envelope.
    pub sender: String,
    /// Who gets it, by the envelope.
    pub to: Vec<String>,
    /// Headers and body.
    pub text: String,
    /// Whether the connection was encrypted.
    pub tls: bool,
    /// Who had logged in.
    pub login: String,
}

impl Mail {
    /// A header, put together again if it was folded.
    pub fn header(&self, name: &str) -> Option<String> {
        let unfolded = self.text.replace("\r\n ", " ").replace("\r\n\t", " ");
        let (headers, _) = unfolded.split_once("\r\n\r\n")?;
        let line = headers.split("\r\n").find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.map(str::to_owned)
    }

    /// What comes after the headers.
    pub fn body(&self) -> &str {
        self.text.split_once("\r\n\r\n").map_or("", |(_, body)| body)
    }
}

/// The server; it ends with this value.
pub struct MailServer {
    /// Where it listens.
    pub port: u16,
    /// The certificate that vouches for it.
    pub ca: String,
    mails: Arc<Mutex<Vec<Mail>>>,
    _child: Child,
}

impl MailServer {
    /// Starts a server: `NONE`, `STARTTLS` or `TLS`, on a port or any, with a log-in if one is given. None if it cannot be
    /// had: the test is skipped, loudly, and fails where `CI` is `true`.
    pub async fn start(security: &str, port: u16, login: Option<(&str, &str)>) -> Result<Option<Self>> {
        let Some(python) = python() else { return Ok(None) };
        let mut command = Command::new(python);
        command.arg(source_root().join("tests/src/mail_server.py")).args([security, &port.to_string()]);
        if let Some((user, password)) = login {
            command.args([user, password]);
        }
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("its output")?).lines();
        let first: Value = serde_json::from_str(&lines.next_line().await?.context("it did not start")?)?;
        let port = u16::try_from(first["port"].as_u64().context("a port")?)?;
        let ca = first["ca"].as_str().context("a certificate")?.to_owned();
        let mails: Arc<Mutex<Vec<Mail>>> = Arc::default();
        let kept = Arc::clone(&mails);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let Ok(mail) = serde_json::from_str::<Value>(&line) else { continue };
                let text = |name: &str| mail[name].as_str().unwrap_or_default().to_owned();
                let to = mail["to"].as_array().into_iter().flatten();
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(Mail {
                    sender: text("sender"),
                    to: to.filter_map(|to| to.as_str().map(str::to_owned)).collect(),
                    text: text("text"),
                    tls: mail["tls"] == true,
                    login: text("login"),
                });
            }
        });
        Ok(Some(Self { port, ca, mails, _child: child }))
    }

    /// Mails so far.
    pub fn mails(&self) -> Vec<Mail> {
        self.mails.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for so many mails.
    pub async fn wait_for(&self, count: usize) -> Result<Vec<Mail>> {
        until(&format!("{count} mails have come"), async || Ok(self.mails().len() >= count)).await?;
        Ok(self.mails())
    }
}

fn python() -> Option<&'static PathBuf> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let installed = PYTHON.get_or_init(|| {
        let root = source_root();
        match Blocking::new(root.join("scripts/install-aiosmtpd.sh")).output() {
            Ok(output) if output.status.success() => Ok(root.join("target/tools/aiosmtpd/bin/python")),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    });
    match installed {
        Ok(python) => Some(python),
        Err(why) if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
            panic!("there is no aiosmtpd: {why}")
        }
        Err(why) => {
            // Not `eprintln`, which a passing test does not show.
            let _ = writeln!(std::io::stderr(), "SKIPPED, no aiosmtpd: {why}");
            None
        }
    }
}
