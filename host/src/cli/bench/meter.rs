//! A reading of everything that is counted around a measurement, at its beginning and at its end.

use super::host::Host;
use super::machine::{self, Use};

/// What was used and counted up to a moment.
#[derive(Clone, Copy, Default)]
pub(super) struct Reading {
    host: Use,
    client_cpu_seconds: f64,
    /// None where the database is a file or on another machine.
    postgres_cpu_seconds: Option<f64>,
    cycles: f64,
    commits: f64,
    transactions: f64,
    read_transactions: f64,
    statements: f64,
    plugin_seconds: f64,
    plugin_calls: f64,
    plugin_computed_seconds: f64,
    plugin_computed_calls: f64,
}

/// What a cycle costs, between two readings.
pub(super) struct Cost {
    /// Cycles that the host counted.
    pub(super) cycles: f64,
    /// The host's processor time.
    pub(super) host_cpu_seconds: f64,
    /// The load's.
    pub(super) client_cpu_seconds: f64,
    /// The database server's.
    pub(super) postgres_cpu_seconds: Option<f64>,
    /// Memory of the host at the end.
    pub(super) rss_bytes: u64,
    /// Bytes that the host wrote.
    pub(super) written_bytes: f64,
    /// Commits of transitions.
    pub(super) commits: f64,
    /// All transactions.
    pub(super) transactions: f64,
    /// Those that wrote something.
    pub(super) writing_transactions: f64,
    /// All statements.
    pub(super) statements: f64,
    /// Time inside plugins, by the clock on the wall.
    pub(super) plugin_seconds: f64,
    /// Processor time of plugins.
    pub(super) plugin_cpu_seconds: f64,
    /// Calls of plugins.
    pub(super) plugin_calls: f64,
}

impl Reading {
    /// Reads everything now.
    pub(super) async fn take(host: &Host) -> Self {
        let figures = host.figures().await;
        Self {
            host: host.usage(),
            client_cpu_seconds: machine::own_cpu_seconds(),
            postgres_cpu_seconds: host.database_is_local_server.then(machine::postgres_cpu_seconds),
            cycles: figures.sum("stepwell_instances_ended_total", ""),
            commits: figures.sum("stepwell_commit_seconds_count", ""),
            transactions: figures.sum("stepwell_store_transactions_total", ""),
            read_transactions: figures.sum("stepwell_store_transactions_total", r#"kind="read""#),
            statements: figures.sum("stepwell_store_statements_total", ""),
            plugin_seconds: figures.sum("stepwell_plugin_call_seconds_sum", ""),
            plugin_calls: figures.sum("stepwell_plugin_call_seconds_count", ""),
            plugin_computed_seconds: figures.sum("stepwell_plugin_computed_seconds_sum", ""),
            plugin_computed_calls: figures.sum("stepwell_plugin_computed_seconds_count", ""),
        }
    }

    /// What was used since an earlier reading.
    #[expect(clippy::cast_precision_loss, reason = "bytes of one run are far below 2^52")]
    pub(super) fn since(self, earlier: Self) -> Cost {
        let transactions = self.transactions - earlier.transactions;
        let postgres = self.postgres_cpu_seconds.zip(earlier.postgres_cpu_seconds);
        let plugin_calls = self.plugin_calls - earlier.plugin_calls;
        let asked = (self.plugin_computed_calls - earlier.plugin_computed_calls).max(1.0);
        Cost {
            cycles: self.cycles - earlier.cycles,
            host_cpu_seconds: self.host.cpu_seconds - earlier.host.cpu_seconds,
            client_cpu_seconds: self.client_cpu_seconds - earlier.client_cpu_seconds,
            postgres_cpu_seconds: postgres.map(|(now, earlier)| (now - earlier).max(0.0)),
            rss_bytes: self.host.rss_bytes,
            written_bytes: self.host.written_bytes.saturating_sub(earlier.host.written_bytes) as f64,
            commits: self.commits - earlier.commits,
            transactions,
            writing_transactions: transactions - (self.read_transactions - earlier.read_transactions),
            statements: self.statements - earlier.statements,
            plugin_seconds: self.plugin_seconds - earlier.plugin_seconds,
            plugin_cpu_seconds: (self.plugin_computed_seconds - earlier.plugin_computed_seconds) / asked
                * plugin_calls,
            plugin_calls,
        }
    }
}
