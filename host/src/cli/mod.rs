//! The command line. It has no private way in: every command but `serve` is a client of the public API.

mod bench;
mod client;
mod config;
mod dead_letter;
mod demo;
mod demo_worker;
mod error;
mod event;
mod incident;
mod input;
mod instance;
mod message;
mod outbox;
mod page;
mod plugin;
mod print;
mod reminder;
mod schedule;
mod secret;
mod sender;
mod serve;
mod signals;
mod task;
mod temporary;
mod timer;
mod token;
mod wait;
mod watch;
mod worker;
mod workflow;

use std::process::ExitCode;

use clap::Parser;

use client::Client;
use error::Error;
use print::Output;

/// Stepwell, a durable workflow engine that is extended with WebAssembly.
#[derive(Debug, Parser)]
#[command(name = "stepwell", version, about, after_help = EXAMPLES, propagate_version = true)]
#[command(subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every command understands.
#[derive(Clone, Debug, clap::Args)]
struct Global {
    /// The server to talk to. [default: http://127.0.0.1:8080]
    #[arg(long, global = true, env = "STEPWELL_SERVER", value_name = "URL")]
    server: Option<String>,
    /// The token to show to the server.
    #[arg(long, global = true, env = "STEPWELL_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The tenant to act for. [default: the token's, or "default"]
    #[arg(long, global = true, env = "STEPWELL_TENANT", value_name = "NAME")]
    tenant: Option<String>,
    /// Print JSON, for scripts.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Run a host: the engine, the worker API, the plugins.
    Serve(serve::Args),
    /// Show an external task from start to end, with a worker of its own.
    Demo(demo::Args),
    /// Measure a host and its database, side by side.
    #[command(subcommand)]
    Bench(bench::Command),
    /// Deploy and look at workflows.
    #[command(subcommand)]
    Workflow(workflow::Command),
    /// Start, follow and cancel instances of workflows.
    #[command(subcommand)]
    Instance(instance::Command),
    /// Work on external tasks by hand, as a worker would.
    #[command(subcommand)]
    Task(task::Command),
    /// See and change what waits for a time.
    #[command(subcommand)]
    Timer(timer::Command),
    /// See and stop what starts workflows by the clock, and when a cron expression runs.
    #[command(subcommand)]
    Schedule(schedule::Command),
    /// See what plugins did wrong, and go on after a repair.
    #[command(subcommand)]
    Incident(incident::Command),
    /// See tasks that failed for good, offer them again, or discard them.
    #[command(subcommand)]
    DeadLetter(dead_letter::Command),
    /// See which workers poll for what, and let one go.
    #[command(subcommand)]
    Worker(worker::Command),
    /// See which step types and mappers there are, and check a component before it is used.
    #[command(subcommand)]
    Plugin(plugin::Command),
    /// Make, list and revoke tokens.
    #[command(subcommand)]
    Token(token::Command),
    /// See what leaves a host; send again or discard what was given up.
    #[command(subcommand)]
    Outbox(outbox::Command),
    /// Set, list and forget what requests carry and nobody may read.
    #[command(subcommand)]
    Secret(secret::Command),
    /// Set, list and forget how notes to people leave.
    #[command(subcommand)]
    Sender(sender::Command),
    /// See what became of notes to people.
    #[command(subcommand)]
    Reminder(reminder::Command),
    /// Send messages to steps that wait for them.
    #[command(subcommand)]
    Message(message::Command),
    /// Send events to workflows, and see which were refused.
    #[command(subcommand)]
    Event(event::Command),
    /// See what instances wait for; complete or retry a wait that failed.
    #[command(subcommand)]
    Wait(wait::Command),
    /// See the settings that `serve` would run with.
    #[command(subcommand)]
    Config(config::Command),
}

const EXAMPLES: &str = "\
Examples:
  stepwell serve                                     a host on SQLite at 127.0.0.1:8080
  stepwell demo                                      an external task from start to end
  stepwell workflow deploy order.yaml --key order    deploy a workflow
  stepwell instance start order --context '{\"id\": 7}' --watch
  stepwell task poll --type ship-order --wait 30     take a task, as a worker would

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 not found, 69 server or database not available, 78 wrong settings.";

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let output = Output::new(cli.global.json);
    // Before the first client: that of traces is made from settings.
    crate::tls::provide();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return output.failure(&Error::unavailable(format!("cannot start threads: {error}")));
        }
    };
    let result = runtime.block_on(run(cli, &output));
    // A blocking read of stdin or a compilation must not hold up the end.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output.failure(&error),
    }
}

async fn run(cli: Cli, output: &Output) -> Result<(), Error> {
    let global = cli.global;
    let client = || Client::new(&global);
    match cli.command {
        Command::Serve(args) => Box::pin(serve::run(args, output)).await,
        Command::Demo(args) => Box::pin(demo::run(args, &global, output)).await,
        Command::Bench(command) => Box::pin(bench::run(command, output)).await,
        Command::Workflow(command) => workflow::run(command, &client()?, output).await,
        Command::Instance(command) => instance::run(command, &client()?, output).await,
        Command::Task(command) => task::run(command, &client()?, output).await,
        Command::Timer(command) => timer::run(command, &client()?, output).await,
        Command::Schedule(command) => {
            // A preview asks no server.
            let client = if command.is_local() { None } else { Some(client()?) };
            schedule::run(command, client.as_ref(), output).await
        }
        Command::Incident(command) => incident::run(command, &client()?, output).await,
        Command::DeadLetter(command) => dead_letter::run(command, &client()?, output).await,
        Command::Worker(command) => worker::run(command, &client()?, output).await,
        Command::Plugin(command) => Box::pin(plugin::run(command, &global, output)).await,
        Command::Token(command) => Box::pin(token::run(command, &global, output)).await,
        Command::Outbox(command) => outbox::run(command, &client()?, output).await,
        Command::Secret(command) => secret::run(command, &client()?, output).await,
        Command::Sender(command) => sender::run(command, &client()?, output).await,
        Command::Reminder(command) => reminder::run(command, &client()?, output).await,
        Command::Event(command) => event::run(command, &client()?, output).await,
        Command::Wait(command) => wait::run(command, &client()?, output).await,
        Command::Message(command) => message::run(command, &client()?, output).await,
        Command::Config(command) => config::run(command, output),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_makes_sense() {
        super::Cli::command().debug_assert();
    }
}
