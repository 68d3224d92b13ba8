//! `stepwell secret`: what requests carry, set and forgotten. A value is read and never shown.

use std::path::PathBuf;

use serde_json::json;

use super::Error;
use super::client::{Client, segment};
use super::input;
use super::print::{Output, cell};

/// Set, list and forget secrets.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Set a secret; its value is read from stdin, or from a file.
    #[command(after_help = "Examples:\n  \
        stepwell secret set SLACK_HOOK --host hooks.slack.com < hook.txt\n  \
        stepwell secret set SMTP_PASSWORD --host mail.example.org:587 --value-file password.txt\n\n\
        In a workflow it is ${secrets.NAME}. It is put in as a request leaves for one of its hosts.")]
    Set {
        /// Its name: letters, digits, - and _.
        name: String,
        /// A host that it may be sent to: api.example.org, *.example.org, either with a port.
        #[arg(long = "host", value_name = "HOST", required = true)]
        hosts: Vec<String>,
        /// Read the value from this file. A line break at its end is left out.
        #[arg(long, value_name = "FILE")]
        value_file: Option<PathBuf>,
    },
    /// List secrets of the tenant, without their values.
    List,
    /// Forget a secret.
    Delete {
        /// The secret's name.
        name: String,
    },
    /// Seal the secrets of all tenants with the host's newest key.
    Rotate,
}

/// Runs it.
pub(super) async fn run(command: Command, client: &Client, output: &Output) -> Result<(), Error> {
    let path = |name: &str| format!("/api/v1/secrets/{}", segment(name));
    match command {
        Command::Set { name, hosts, value_file } => {
            let value = input::secret(value_file.as_deref())?;
            let body = json!({ "value": value, "hosts": hosts });
            let request = client.request(reqwest::Method::PUT, &path(&name)).json(&body);
            let answer = client.call(request).await?;
            output.answer(&answer, format!("set: {name}"));
        }
        Command::List => {
            let answer = client.get("/api/v1/secrets", &[]).await?;
            output.list(
                &answer,
                &[("NAME", "/name"), ("HOSTS", "/hosts"), ("KEY", "/keyId"), ("SET", "/updatedAt")],
            );
        }
        Command::Delete { name } => {
            let answer = client.delete(&path(&name)).await?;
            output.answer(&answer, format!("forgotten: {name}"));
        }
        Command::Rotate => {
            let answer = client.post("/api/v1/secret-keys/rotate", &json!({})).await?;
            let sentence = format!(
                "sealed again: {}; all are under the key {}",
                cell(&answer, "/resealed"),
                cell(&answer, "/keyId")
            );
            output.answer(&answer, sentence);
        }
    }
    Ok(())
}
