//! `stepwell config`: what `serve` would run with.

use serde_json::Value;

use super::Error;
use super::print::{Output, cell};
use crate::settings::{Flags, Settings};

/// See the settings that `serve` would run with.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Print every setting with its value, from flags, variables, the file and defaults together.
    Show {
        #[command(flatten)]
        flags: Box<Flags>,
    },
}

/// Runs it.
pub(super) fn run(command: Command, output: &Output) -> Result<(), Error> {
    let Command::Show { flags } = command;
    let settings = Settings::resolve(*flags)?;
    let value = serde_json::to_value(&settings).map_err(|error| Error::config(error.to_string()))?;
    if output.json {
        output.value(&value);
        return Ok(());
    }
    let fields: Vec<(&str, String)> = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| !matches!(value, Value::Object(_)))
        .map(|(name, _)| (name.as_str(), cell(&value, &format!("/{name}"))))
        .collect();
    output.fields(&fields);
    for table in ["kafka", "limits", "plugin_limits"] {
        if let Some(table_value) = value.get(table).filter(|value| value.is_object()) {
            output.line(format!("{table}:"));
            output.value(table_value);
        }
    }
    Ok(())
}
