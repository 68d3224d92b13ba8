//! `stepwell bench`: a host under load, beside the raw limit of its database; and its parts, each by itself.

mod alternate;
mod bar;
mod cycle;
mod dispatch;
mod events;
mod events_kafka;
mod external_task;
mod host;
mod http;
mod lateness;
mod load;
mod machine;
mod meter;
mod open_load;
mod parked;
mod phase;
mod plot;
mod plugin;
mod preload;
mod raw;
mod report;
mod seen;
mod start;
mod svg;
mod table;
mod tell;
mod timers;
mod worker_load;
mod worker_surface;
mod workers;

use super::Error;
use super::print::Output;

/// What to measure.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Whole cycles over HTTP: start an instance, poll its task, complete it.
    ExternalTask(Box<external_task::Args>),
    /// A fresh instance and a call, by plugin and verb.
    Plugin(plugin::Args),
    /// From the start of the process until the host is ready.
    Start(start::Args),
    /// What workers that wait cost a host.
    Parked(parked::Args),
    /// Fetching and completing, on both surfaces, and with many open tasks.
    Workers(workers::Args),
    /// How late timers fire, spread over time and all at once, beside few and many that wait.
    Timers(timers::Args),
    /// Events that reach the instances that wait for them, beside few and many that wait.
    Events(events::Args),
    /// Results that were kept, as Markdown.
    Table(table::Args),
}

/// Runs a measurement.
pub(super) async fn run(command: Command, output: &Output) -> Result<(), Error> {
    match command {
        Command::ExternalTask(args) => external_task::run(*args, output).await,
        Command::Plugin(args) => plugin::run(args, output).await,
        Command::Start(args) => start::run(args, output).await,
        Command::Parked(args) => parked::run(args, output).await,
        Command::Workers(args) => workers::run(args, output).await,
        Command::Timers(args) => timers::run(args, output).await,
        Command::Events(args) => events::run(args, output).await,
        Command::Table(args) => table::run(&args, output),
    }
}
