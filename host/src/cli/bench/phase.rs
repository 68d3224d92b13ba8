//! One measurement from begin to end, and what it comes to.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::meter::Cost;
use super::plot::Panel;
use super::seen::Seen;

/// What was measured.
pub(super) struct Measured {
    pub(super) seen: Seen,
    /// Cycles that clients saw through to their end.
    pub(super) cycles: u64,
    pub(super) took: Duration,
    /// Cycles in each second of it.
    pub(super) per_second: Vec<f64>,
    pub(super) cost: Cost,
    /// Cycles of a schedule that were not done in time.
    pub(super) missed: u64,
}

/// Cycles in each second, from looks at a count.
#[derive(Default)]
pub(super) struct Rates {
    rates: Vec<f64>,
    last: (f64, u64),
}

impl Rates {
    /// A look at the count, so long after the beginning.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub(super) fn look(&mut self, after: Duration, count: u64) {
        let (then, before) = self.last;
        let now = after.as_secs_f64();
        if now - then >= 1.0 {
            self.rates.push((count - before) as f64 / (now - then));
            self.last = (now, count);
        }
    }

    /// All whole seconds.
    pub(super) fn per_second(self) -> Vec<f64> {
        self.rates
    }
}

impl Measured {
    /// Cycles in a second.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub(super) fn cycles_per_second(&self) -> f64 {
        self.cycles as f64 / self.took.as_secs_f64()
    }

    /// The figures.
    pub(super) fn summary(&mut self) -> Map<String, Value> {
        let (rate, seconds) = (self.cycles_per_second(), self.took.as_secs_f64());
        let cost = &self.cost;
        // The host's own count: its costs are read beside the load, not at the end of a cycle.
        let cycles = cost.cycles.max(1.0);
        let cpu = |used: f64| json!({ "cpuCores": used / seconds, "cpuMsPerCycle": used * 1000.0 / cycles });
        let mut host = cpu(cost.host_cpu_seconds);
        host["rssBytes"] = json!(cost.rss_bytes);
        host["writtenBytesPerCycle"] = json!(cost.written_bytes / cycles);
        host["commitsPerCycle"] = json!(cost.commits / cycles);
        host["transactionsPerCycle"] = json!(cost.transactions / cycles);
        host["writingTransactionsPerCycle"] = json!(cost.writing_transactions / cycles);
        host["statementsPerCycle"] = json!(cost.statements / cycles);
        host["pluginShareOfCpu"] = json!(cost.plugin_cpu_seconds / cost.host_cpu_seconds.max(0.01));
        host["pluginCallsPerCycle"] = json!(cost.plugin_calls / cycles);
        host["pluginCpuMicrosPerCall"] = json!(cost.plugin_cpu_seconds * 1e6 / cost.plugin_calls.max(1.0));
        host["pluginMicrosPerCall"] = json!(cost.plugin_seconds * 1e6 / cost.plugin_calls.max(1.0));
        let mut told = Map::from_iter([
            ("seconds".into(), json!(seconds)),
            ("cycles".into(), json!(self.cycles)),
            ("cyclesPerSecond".into(), json!(rate)),
            ("errors".into(), json!(self.seen.errors)),
            ("dispatchedBeforeStartWasAnswered".into(), json!(self.seen.early)),
            ("perSecond".into(), json!(self.per_second)),
            ("host".into(), host),
            ("client".into(), cpu(cost.client_cpu_seconds)),
            ("postgres".into(), cost.postgres_cpu_seconds.map_or(Value::Null, cpu)),
        ]);
        let operations = self.seen.operations().into_iter();
        told.extend(operations.map(|(name, samples)| (name.to_owned(), samples.summary())));
        told
    }

    /// The figures as curves.
    pub(super) fn panel(&mut self, title: String) -> Panel {
        let curves =
            self.seen.operations().into_iter().map(|(name, samples)| (name, samples.curve())).collect();
        Panel { title, curves, per_second: self.per_second.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_counted_by_the_second() {
        let mut rates = Rates::default();
        for (millis, count) in [(500, 10), (1000, 20), (1500, 40), (2500, 65)] {
            rates.look(Duration::from_millis(millis), count);
        }
        assert_eq!(rates.per_second(), [20.0, 30.0]);
    }
}
