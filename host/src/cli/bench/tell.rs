//! A measurement for people.

use serde_json::Value;

use super::super::print::Output;

/// Names of operations, and what they are called.
const OPERATIONS: [(&str, &str); 7] = [
    ("start", "start"),
    ("poll", "poll that finds work"),
    ("complete", "complete"),
    ("cycle", "whole cycle"),
    ("dispatch", "dispatch"),
    ("startToHand", "start to worker's hand"),
    ("emptyPoll", "empty poll"),
];

/// Prints a phase.
pub(super) fn phase(output: &Output, title: &str, told: &Value) {
    let number = |pointer: &str| told.pointer(pointer).and_then(Value::as_f64).unwrap_or_default();
    output.line(format!(
        "{:.0} cycles/s {title} ({} cycles in {:.1} s, {} errors)",
        number("/cyclesPerSecond"),
        told["cycles"],
        number("/seconds"),
        told["errors"]
    ));
    for (name, called) in OPERATIONS.iter().filter(|(name, _)| told[*name].is_object()) {
        let at = |what: &str| number(&format!("/{name}/{what}"));
        output.line(format!(
            "  {called:<22} p50 {:>8.2} ms   p99 {:>8.2} ms   p99.9 {:>8.2} ms",
            at("p50Ms"),
            at("p99Ms"),
            at("p999Ms")
        ));
    }
    let cpu = |who: &str| {
        let at = |what: &str| number(&format!("/{who}/{what}"));
        format!("{who} {:.2} cores, {:.3} ms a cycle", at("cpuCores"), at("cpuMsPerCycle"))
    };
    let postgres = if told["postgres"].is_null() { String::new() } else { format!("; {}", cpu("postgres")) };
    output.line(format!("  processor: {}; {}{postgres}", cpu("host"), cpu("client")));
    output.line(format!(
        "  a cycle: {:.3} commits, {:.3} transactions ({:.3} that write), {:.2} statements, {:.0} bytes written by the host",
        number("/host/commitsPerCycle"),
        number("/host/transactionsPerCycle"),
        number("/host/writingTransactionsPerCycle"),
        number("/host/statementsPerCycle"),
        number("/host/writtenBytesPerCycle"),
    ));
    output.line(format!(
        "  host: {:.0} MiB of memory; {:.1} plugin calls a cycle of {:.0} µs each, {:.0} µs of them computed: {:.0} % of its processor time",
        number("/host/rssBytes") / f64::from(1 << 20),
        number("/host/pluginCallsPerCycle"),
        number("/host/pluginMicrosPerCall"),
        number("/host/pluginCpuMicrosPerCall"),
        number("/host/pluginShareOfCpu") * 100.0
    ));
}
