//! `stepwell bench table`: results that were written as JSON, as tables of Markdown.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::super::Error;
use super::super::print::Output;

/// Results as Markdown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The files are what the other measurements print with --json, named DATABASE-64.json, DATABASE-256.json,
DATABASE-full.json, DATABASE-memory.json, DATABASE-start.json, DATABASE-parked.json and plugin.json.

Example:
  stepwell bench table target/bench")]
pub(in crate::cli) struct Args {
    /// The folder with the results.
    folder: PathBuf,
}

/// Runs it.
pub(super) fn run(args: &Args, output: &Output) -> Result<(), Error> {
    let unreadable =
        |error: std::io::Error| Error::usage(format!("{} cannot be read: {error}", args.folder.display()));
    let mut results: BTreeMap<String, Value> = BTreeMap::new();
    for file in std::fs::read_dir(&args.folder).map_err(unreadable)? {
        let path = file.map_err(unreadable)?.path();
        let (Some(name), Some("json")) =
            (path.file_stem().and_then(|name| name.to_str()), path.extension().and_then(|end| end.to_str()))
        else {
            continue;
        };
        let text = std::fs::read_to_string(&path).map_err(unreadable)?;
        // Half-written results are left out.
        results.extend(serde_json::from_str(&text).ok().map(|result| (name.to_owned(), result)));
    }
    if output.json {
        output.value(&serde_json::json!(results));
    } else {
        print(&results, output);
    }
    Ok(())
}

fn print(results: &BTreeMap<String, Value>, output: &Output) {
    let of = |wanted: fn(&Value) -> bool| results.iter().filter(move |(_, result)| wanted(result));
    output.line("| full load | cycles/s | raw limit | ratio | p99 of start, poll, complete, ms | dispatch p50, p99, ms | transactions, of them writing, statements a cycle | CPU ms a cycle: host, client, PostgreSQL | of it in plugins |");
    output.line("|---|---|---|---|---|---|---|---|---|");
    for (name, result) in of(|result| result["half"].is_object()) {
        let at = |pointer: &str, digits: usize| figure(result, pointer, digits);
        output.line(format!(
            "| {name} | {} | {} | {} | {}, {}, {} | {}, {} | {}, {}, {} | {}, {}, {} | {} |",
            at("/cyclesPerSecond", 0),
            at("/rawCyclesPerSecond", 0),
            at("/ratio", 2),
            at("/start/p99Ms", 0),
            at("/poll/p99Ms", 0),
            at("/complete/p99Ms", 0),
            at("/dispatch/p50Ms", 1),
            at("/dispatch/p99Ms", 1),
            at("/host/transactionsPerCycle", 3),
            at("/host/writingTransactionsPerCycle", 3),
            at("/host/statementsPerCycle", 2),
            at("/host/cpuMsPerCycle", 3),
            at("/client/cpuMsPerCycle", 3),
            at("/postgres/cpuMsPerCycle", 3),
            at("/host/pluginShareOfCpu", 2),
        ));
    }
    output.line("\n| half load | cycles/s | poll that finds work p99, ms | empty poll p99, ms | dispatch p50, p99, ms | start to worker's hand p99, ms | missed |");
    output.line("|---|---|---|---|---|---|---|");
    for (name, result) in of(|result| result["half"].is_object()) {
        let at = |pointer: &str, digits: usize| figure(&result["half"], pointer, digits);
        output.line(format!(
            "| {name} | {} | {} | {} | {}, {} | {} | {} |",
            at("/cyclesPerSecond", 0),
            at("/poll/p99Ms", 1),
            at("/emptyPoll/p99Ms", 1),
            at("/dispatch/p50Ms", 1),
            at("/dispatch/p99Ms", 1),
            at("/startToHand/p99Ms", 1),
            at("/missed", 0),
        ));
    }
    output.line("\n| other | |\n|---|---|");
    for (name, result) in results {
        other(name, result).into_iter().for_each(|(what, told)| output.line(format!("| {what} | {told} |")));
    }
}

/// Lines of a result that is no load.
fn other(name: &str, result: &Value) -> Vec<(String, String)> {
    let at = |pointer: &str, digits: usize| figure(result, pointer, digits);
    let line = |told: String| vec![(name.to_owned(), told)];
    if let Some(plugins) = result["plugins"].as_array() {
        let row = |row: &Value| {
            let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let told = format!(
                "median {} µs, p99 {} µs, fuel {}, {} calls/s on one core",
                figure(row, "/medianMicros", 1),
                figure(row, "/p99Micros", 1),
                figure(row, "/fuel", 0),
                figure(row, "/callsPerSecond", 0)
            );
            (format!("{} {}", word("plugin"), word("verb")), told)
        };
        return plugins.iter().map(row).collect();
    }
    if result["cold"].is_object() {
        return line(format!(
            "cold {} ms, warm {} ms (medians)",
            at("/cold/medianMs", 0),
            at("/warm/medianMs", 0)
        ));
    }
    if result["parkedAtEnd"].is_number() {
        let (cpu, memory) = (at("/cpuPercentOfCore", 2), megabytes(result, "/rssBytes"));
        return line(format!("{} pollers: {cpu} % of a core, {memory} MiB", at("/pollers", 0)));
    }
    if result["emptyMedian"].is_number() {
        let (full, empty) = (at("/fullMedian", 0), at("/emptyMedian", 0));
        let instances = at("/preloaded", 0);
        return line(format!(
            "{full} cycles/s with {instances} finished instances, {empty} without: ratio {}",
            at("/ratio", 2)
        ));
    }
    if !result["half"].is_object() && result["cycles"].is_number() {
        let (memory, rate) = (megabytes(result, "/host/rssBytes"), at("/cyclesPerSecond", 0));
        return line(format!("{memory} MiB after {} instances ({rate} cycles/s)", at("/cycles", 0)));
    }
    Vec::new()
}

fn figure(result: &Value, pointer: &str, digits: usize) -> String {
    let number = result.pointer(pointer).and_then(Value::as_f64);
    number.map_or_else(|| "–".into(), |number| format!("{number:.digits$}"))
}

fn megabytes(result: &Value, pointer: &str) -> String {
    let bytes = result.pointer(pointer).and_then(Value::as_f64).unwrap_or_default();
    format!("{:.0}", bytes / f64::from(1 << 20))
}
