//! `stepwell bench`: a host under load, beside the raw limit of its database.

mod external_task;
mod host;
mod http;
mod load;
mod raw;
mod report;

use super::Error;
use super::print::Output;

/// What to measure.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Whole cycles over HTTP: start an instance, poll its task, complete it.
    ExternalTask(external_task::Args),
}

/// Runs a measurement.
pub(super) async fn run(command: Command, output: &Output) -> Result<(), Error> {
    match command {
        Command::ExternalTask(args) => external_task::run(args, output).await,
    }
}
