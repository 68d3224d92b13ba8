//! `stepwell sender`: how notes to people leave. Secrets are named, not given.

use std::path::PathBuf;

use serde_json::json;

use super::Error;
use super::client::{Client, segment};
use super::input;
use super::print::Output;

/// Set, list and forget senders.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Set a sender.
    #[command(after_help = "Examples:\n  \
        stepwell sender set mail --channel EMAIL --host mail.example.org --from robot@example.org \\\n    \
        --user robot --password-secret SMTP_PASSWORD --default\n  \
        stepwell sender set team --channel SLACK --url-secret SLACK_HOOK\n  \
        stepwell sender set hook --channel WEBHOOK --url https://example.org/hook --signing-secret HOOK_KEY\n\n\
        Secrets are set with `stepwell secret set`, granted to the host that they are for.")]
    Set(Box<Wanted>),
    /// List senders of the tenant.
    List,
    /// Show a sender.
    Show {
        /// The sender's name.
        name: String,
    },
    /// Forget a sender.
    Delete {
        /// The sender's name.
        name: String,
    },
}

/// A sender as it shall be.
#[derive(Debug, clap::Args)]
pub(super) struct Wanted {
    /// Its name: letters, digits, - and _.
    name: String,
    /// EMAIL, SLACK or WEBHOOK.
    #[arg(long)]
    channel: String,
    /// Take it where a step names none.
    #[arg(long)]
    default: bool,
    /// EMAIL: the mail server.
    #[arg(long)]
    host: Option<String>,
    /// EMAIL: its port; 587, 465 or 25 by --security if absent.
    #[arg(long)]
    port: Option<u16>,
    /// EMAIL: STARTTLS (if absent), TLS, or NONE where the operator has allowed the server.
    #[arg(long)]
    security: Option<String>,
    /// EMAIL: the address that mails come from.
    #[arg(long)]
    from: Option<String>,
    /// EMAIL: who logs in.
    #[arg(long)]
    user: Option<String>,
    /// EMAIL: the name of the secret that is the password.
    #[arg(long, value_name = "SECRET")]
    password_secret: Option<String>,
    /// EMAIL: a certificate (PEM) that is trusted besides those of the system.
    #[arg(long, value_name = "FILE")]
    ca_certificate: Option<PathBuf>,
    /// SLACK, WEBHOOK: where notes without recipients go.
    #[arg(long)]
    url: Option<String>,
    /// SLACK, WEBHOOK: the same as the name of a secret.
    #[arg(long, value_name = "SECRET")]
    url_secret: Option<String>,
    /// WEBHOOK: the name of the secret that requests are signed with.
    #[arg(long, value_name = "SECRET")]
    signing_secret: Option<String>,
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    let path = |name: &str| format!("/api/v1/senders/{}", segment(name));
    match command {
        Command::Set(wanted) => {
            let certificate = wanted
                .ca_certificate
                .as_deref()
                .map(|path| input::file(&path.to_string_lossy()))
                .transpose()?;
            let body = json!({
                "channel": wanted.channel, "default": wanted.default, "host": wanted.host, "port": wanted.port,
                "security": wanted.security.map(|security| security.to_ascii_uppercase()), "from": wanted.from,
                "user": wanted.user, "passwordSecret": wanted.password_secret, "caCertificate": certificate,
                "url": wanted.url, "urlSecret": wanted.url_secret, "signingSecret": wanted.signing_secret,
            });
            let request = client.request(reqwest::Method::PUT, &path(&wanted.name)).json(&body);
            let answer = client.call(request).await?;
            output.answer(&answer, format!("set: {}", wanted.name));
        }
        Command::List => {
            let answer = client.get("/api/v1/senders", &[]).await?;
            let columns = [
                ("NAME", "/name"),
                ("CHANNEL", "/channel"),
                ("DEFAULT", "/default"),
                ("HOST", "/host"),
                ("FROM", "/from"),
                ("URL", "/url"),
                ("SET", "/updatedAt"),
            ];
            output.list(&answer, &columns);
        }
        Command::Show { name } => output.value(&client.get(&path(&name), &[]).await?),
        Command::Delete { name } => {
            let answer = client.delete(&path(&name)).await?;
            output.answer(&answer, format!("forgotten: {name}"));
        }
    }
    Ok(())
}
