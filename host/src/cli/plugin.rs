//! `stepwell plugin`: which step types and mappers there are, and checking a component before it is used.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::client::{Client, segment};
use super::print::{Output, cell};
use super::{Error, Global};
use crate::domain::Digest;
use crate::domain::plugin::LimitOverrides;
use crate::plugin::{ComponentSource, LoadError, PluginHost, PluginOptions, Report};

/// See which step types and mappers there are, and check a component before it is used.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List the plugins that the server has.
    List,
    /// Show what a plugin says of itself: types, schemas, effects.
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
                ("VERSION", "/version"),
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
            let result = check(&file).await?;
            print_check(&file, &result, output);
            result.map_err(|error| Error::refused(error.code, error.message))?;
        }
    }
    Ok(())
}

/// Loads a component as a host would.
async fn check(file: &Path) -> Result<Result<Report, LoadError>, Error> {
    let bytes = std::fs::read(file)
        .map_err(|error| Error::usage(format!("{} cannot be read: {error}", file.display())))?;
    Ok(sandbox()?.check(bytes, &file.display().to_string()).await)
}

/// A sandbox without a host around it, with the limits that hold where nothing else is set.
pub(super) fn sandbox() -> Result<Arc<PluginHost>, Error> {
    PluginHost::new(PluginOptions {
        cache_dir: None,
        overrides: LimitOverrides::default(),
        components: Arc::new(Nothing),
    })
    .map_err(|error| Error::unavailable(format!("the sandbox cannot be set up: {error}")))
}

fn print_check(file: &Path, result: &Result<Report, LoadError>, output: &Output) {
    let file = file.display();
    match result {
        Err(error) if output.json => {
            output.value(&json!({ "passed": false, "code": error.code, "message": error.message }));
        }
        Err(_) => output.line(format!("fail  {file}")),
        Ok(report) if output.json => {
            let examples: Vec<Value> = report
                .examples
                .iter()
                .map(|(name, usage)| json!({ "name": name, "fuel": usage.fuel, "memoryBytes": usage.memory_bytes }))
                .collect();
            output.value(&json!({ "passed": true, "plugin": report.info, "examples": examples }));
        }
        Ok(report) => {
            let types = report.info.descriptor.types.join(", ");
            output.line(format!(
                "pass  {file}: {types} ({} bytes, {})",
                report.info.size_bytes, report.info.digest
            ));
            for (name, usage) in &report.examples {
                output.line(format!(
                    "pass  example \"{name}\": fuel {}, memory {} bytes",
                    usage.fuel, usage.memory_bytes
                ));
            }
            if report.examples.is_empty() {
                output.line(
                    "      it has no examples: add some to `describe`, they are run whenever it is loaded",
                );
            }
        }
    }
}

/// A check has no database to fetch components from.
struct Nothing;

#[async_trait::async_trait]
impl ComponentSource for Nothing {
    async fn component(&self, _: &Digest) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }
}

fn print_plugin(plugin: &Value, output: &Output) {
    if output.json {
        return output.value(plugin);
    }
    output.fields(&[
        ("types", cell(plugin, "/serving")),
        ("kind", cell(plugin, "/kind")),
        ("title", cell(plugin, "/title")),
        ("version", cell(plugin, "/version")),
        ("origin", cell(plugin, "/origin")),
        ("digest", cell(plugin, "/digest")),
        ("size", cell(plugin, "/sizeBytes")),
        ("effects", cell(plugin, "/effects")),
    ]);
    for (title, name) in [("config schema", "configSchema"), ("output schema", "outputSchema")] {
        if let Some(schema) = plugin.get(name).filter(|schema| !schema.is_null()) {
            output.line(format!("{title}:"));
            output.value(schema);
        }
    }
}
