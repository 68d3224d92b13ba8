//! `stepwell serve`: a host, until it is told to end.

use serde_json::json;

use super::print::Output;
use super::{Error, signals};
use crate::settings::{Flags, Settings, shown_database};
use crate::{boot, telemetry};

/// Run a host.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stepwell serve
  stepwell serve --listen 127.0.0.1:0 --data /var/lib/stepwell --plugins ./plugins
  stepwell serve --database postgres://stepwell@db/stepwell --otlp http://127.0.0.1:4318

Interrupt or SIGTERM: parked polls are answered, everything accepted is committed, then exit 0.
A second one ends at once.")]
pub(super) struct Args {
    #[command(flatten)]
    flags: Box<Flags>,
}

/// Runs it.
pub(super) async fn run(args: Args, output: &Output) -> Result<(), Error> {
    let settings = Settings::resolve(*args.flags)?;
    let stop = signals::watch()?;
    let telemetry = telemetry::start(&telemetry::Options {
        filter: settings.log.clone(),
        format: settings.log_format,
        otlp: settings.otlp.clone(),
        node_id: settings.node_id.clone(),
    })?;
    let result = until_stopped(&settings, &stop, output).await;
    telemetry.flush().await;
    result
}

async fn until_stopped(
    settings: &Settings,
    stop: &tokio_util::sync::CancellationToken,
    output: &Output,
) -> Result<(), Error> {
    // A signal while the database or a plugin is slow to come up ends the start, too.
    let mut host = tokio::select! {
        started = boot::start(settings) => started?,
        () = stop.cancelled() => return Ok(()),
    };
    greet(&host, settings, output);
    let ended = tokio::select! {
        () = stop.cancelled() => Ok(()),
        ended = host.ended() => ended,
    };
    tracing::info!("draining: no new connections, parked polls are answered, batches are committed");
    host.stop().await;
    tracing::info!("stopped");
    Ok(ended?)
}

fn greet(host: &boot::Running, settings: &Settings, output: &Output) {
    let url = host.url();
    if output.json {
        output.value(&json!({ "address": url, "node": settings.node_id, "open": host.open }));
        return;
    }
    output.line(format!("Stepwell {} listens at {url}", env!("CARGO_PKG_VERSION")));
    output.line(format!("database: {}", shown_database(&settings.database)));
    if host.open {
        output.line("open: no token is needed, because only this machine can connect");
    }
    let server =
        if url == super::client::DEFAULT_SERVER { String::new() } else { format!(" --server {url}") };
    output.line("\nTry next, in another terminal:");
    for command in [
        "demo",
        "workflow deploy examples/jira/workflow.yaml --key jira",
        "instance start jira --context @examples/jira/context.json --watch",
        "task poll --type n8n-jira-create-ticket --worker me",
    ] {
        output.line(format!("  stepwell {command}{server}"));
    }
    output.line(format!("\nAPI: {url}/docs   metrics: {url}/metrics"));
}
