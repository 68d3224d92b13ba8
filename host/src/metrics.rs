//! Names of metrics, in one place; `/metrics` shows them in Prometheus' text format.

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Seconds of an HTTP request, by `route`, `method` and `status`.
pub const HTTP_SECONDS: &str = "stepwell_http_seconds";
/// Seconds of a poll, waiting included.
pub const POLL_SECONDS: &str = "stepwell_poll_seconds";
/// Seconds of a claim of pending tasks: the part of a poll that the database takes.
pub const CLAIM_SECONDS: &str = "stepwell_claim_seconds";
/// Seconds of a commit.
pub const COMMIT_SECONDS: &str = "stepwell_commit_seconds";
/// Transitions in a commit.
pub const COMMIT_TRANSITIONS: &str = "stepwell_commit_transitions";
/// Seconds of a plugin's call, by `plugin` and `verb`.
pub const PLUGIN_SECONDS: &str = "stepwell_plugin_call_seconds";
/// Seconds that a plugin's call computed, by `plugin` and `verb`; of a part of the calls.
pub const PLUGIN_COMPUTED: &str = "stepwell_plugin_computed_seconds";
/// Fuel of a plugin's call, by `plugin` and `verb`.
pub const PLUGIN_FUEL: &str = "stepwell_plugin_fuel";
/// Faults of plugins, by `code`.
pub const PLUGIN_FAULTS: &str = "stepwell_plugin_faults_total";
/// Tasks that wait for a worker, by `task_type`.
pub const TASKS_PENDING: &str = "stepwell_tasks_pending";
/// Tasks that a worker holds, by `task_type`.
pub const TASKS_LOCKED: &str = "stepwell_tasks_locked";
/// Tasks that were handed to workers, by `task_type`.
pub const TASKS_CLAIMED: &str = "stepwell_tasks_claimed_total";
/// Tasks that workers completed, by `task_type`.
pub const TASKS_COMPLETED: &str = "stepwell_tasks_completed_total";
/// Attempts that workers reported as failed, by `task_type`.
pub const TASKS_FAILED: &str = "stepwell_tasks_failed_total";
/// Deadlines of tasks that passed (time-out, lock expiry, missed heartbeats), by `task_type`.
pub const TASKS_TIMED_OUT: &str = "stepwell_tasks_timed_out_total";
/// Tasks that were made, by `task_type`.
pub const TASKS_CREATED: &str = "stepwell_tasks_created_total";
/// Reports and deadlines that changed a task, by `report`, `task_type` and the `status` that came of it.
pub const TASKS_REPORTED: &str = "stepwell_tasks_reported_total";
/// Instances that were started.
pub const INSTANCES_STARTED: &str = "stepwell_instances_started_total";
/// Instances that ended, by `status`.
pub const INSTANCES_ENDED: &str = "stepwell_instances_ended_total";
/// Transitions that met another one and were decided again.
pub const COMMIT_CONFLICTS: &str = "stepwell_commit_conflicts_total";
/// Statements that the database ran for this host, reads included; words that begin or end a transaction are not.
pub const STORE_STATEMENTS: &str = "stepwell_store_statements_total";
/// Transactions of this host, by `kind`: `batch` (a commit of transitions), `claim` (a claim or a lease), `read`, and
/// `hint` (a word to other hosts).
pub const STORE_TRANSACTIONS: &str = "stepwell_store_transactions_total";
/// Polls that wait on this host.
pub const POLLS_PARKED: &str = "stepwell_polls_parked";
/// Polls that came in: their rate is the rate at which workers poll.
pub const POLLS: &str = "stepwell_polls_total";
/// Workers that work on tasks of this host.
pub const WORKERS_ACTIVE: &str = "stepwell_workers_active";
/// Workers that this host has heard of, by `status`: ACTIVE, IDLE or DEAD.
pub const WORKERS: &str = "stepwell_workers";
/// Timers that fired.
pub const TIMERS_FIRED: &str = "stepwell_timers_fired_total";
/// Seconds from when a timer was due until its firing was committed.
pub const TIMER_LATENESS: &str = "stepwell_timer_lateness_seconds";
/// Outgoing items that left, by `kind`.
pub const OUTBOX_SENT: &str = "stepwell_outbox_sent_total";
/// Outgoing items that were given up, by `kind`.
pub const OUTBOX_DEAD: &str = "stepwell_outbox_dead_total";
/// Whether Kafka answers: 1 or 0.
pub const KAFKA_UP: &str = "stepwell_kafka_up";
/// Records of Kafka that this host read, by `topic` and `outcome`: delivered, started, kept, repeated, rejected, dead, empty.
pub const KAFKA_RECORDS: &str = "stepwell_kafka_records_total";
/// Records that this host has still to take in, by `topic` and `partition`.
pub const KAFKA_LAG: &str = "stepwell_kafka_lag_records";
/// How often partitions were shared out anew, by `change`: assigned, revoked, failed.
pub const KAFKA_REBALANCES: &str = "stepwell_kafka_rebalances_total";
/// Records that went to the topic for dead letters, by the `topic` that they came from.
pub const KAFKA_DEAD_LETTERS: &str = "stepwell_kafka_dead_letters_total";
/// Rounds of a background loop that failed, by `loop`.
pub const LOOP_ERRORS: &str = "stepwell_loop_errors_total";
/// Rows that retention removed.
pub const RETENTION_REMOVED: &str = "stepwell_retention_removed_total";

/// Events from outside, by `source` and `outcome`: delivered, repeated, kept, started or rejected.
pub const EVENTS_RECEIVED: &str = "stepwell_events_received_total";
/// Events that were refused, by `reason`.
pub const EVENTS_REJECTED: &str = "stepwell_events_rejected_total";
/// Events that a host gave to the steps that waited for them, by `node`: how the work is spread.
pub const EVENTS_HANDLED: &str = "stepwell_events_handled_total";
/// Waits for events that are open, over all hosts.
pub const WAITS_ACTIVE: &str = "stepwell_wait_states_active";
/// Waits that should have ended more than a minute ago.
pub const WAITS_OVERDUE: &str = "stepwell_wait_states_overdue";
/// Seconds since the oldest open wait began.
pub const WAITS_OLDEST: &str = "stepwell_wait_state_oldest_seconds";
/// Seconds from the beginning of a wait to its end, by `outcome`.
pub const WAIT_SECONDS: &str = "stepwell_wait_seconds";
/// Waits that ended, by `outcome`: completed, partial, timeout or failed.
pub const WAITS_ENDED: &str = "stepwell_wait_states_ended_total";
/// Which event of a wait came first, and which then.
pub const EVENT_ORDER: &str = "stepwell_event_arrival_order_total";
/// Events that met another one at the same instant and were decided again.
pub const RESUME_CONFLICTS: &str = "stepwell_resume_conflicts_total";

const SECONDS_BUCKETS: [f64; 15] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// Finer than others: a timer is promised to the second, and meant to the hundredth.
pub const LATENESS_BUCKETS: [f64; 25] = [
    0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5,
    0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 10.0, 60.0,
];

const COUNT_BUCKETS: [f64; 9] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];
const FUEL_BUCKETS: [f64; 9] = [1e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8, 1e9];

/// How often histograms are summed up.
const UPKEEP: Duration = Duration::from_secs(2);

/// Installs the recorder of this process, once, and returns what renders it.
pub fn install() -> Option<PrometheusHandle> {
    static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            let handle = PrometheusBuilder::new()
                .set_buckets(&SECONDS_BUCKETS)
                .and_then(|all| all.set_buckets_for_metric(Matcher::Full(PLUGIN_FUEL.into()), &FUEL_BUCKETS))
                .and_then(|all| {
                    all.set_buckets_for_metric(Matcher::Full(COMMIT_TRANSITIONS.into()), &COUNT_BUCKETS)
                })
                .and_then(|all| {
                    all.set_buckets_for_metric(Matcher::Full(TIMER_LATENESS.into()), &LATENESS_BUCKETS)
                })
                .and_then(PrometheusBuilder::install_recorder)
                .map_err(|error| tracing::warn!(%error, "metrics are not recorded"))
                .ok();
            describe();
            handle.iter().cloned().for_each(look_after);
            handle
        })
        .clone()
}

/// Samples of histograms are kept until somebody sums them up. Nobody need ever read them, so that is done here.
fn look_after(handle: PrometheusHandle) {
    let upkeep = move || {
        loop {
            std::thread::sleep(UPKEEP);
            handle.run_upkeep();
        }
    };
    if let Err(error) = std::thread::Builder::new().name("metrics-upkeep".into()).spawn(upkeep) {
        tracing::warn!(%error, "metrics are summed up only when they are read");
    }
}

fn describe() {
    describe_histogram!(HTTP_SECONDS, Unit::Seconds, "Time of HTTP requests");
    describe_histogram!(POLL_SECONDS, Unit::Seconds, "Time of polls, waiting included");
    describe_histogram!(CLAIM_SECONDS, Unit::Seconds, "Time of claims of pending tasks");
    describe_histogram!(COMMIT_SECONDS, Unit::Seconds, "Time of commits");
    describe_histogram!(COMMIT_TRANSITIONS, Unit::Count, "Transitions in a commit");
    describe_histogram!(PLUGIN_SECONDS, Unit::Seconds, "Time of plugin calls");
    describe_histogram!(PLUGIN_COMPUTED, Unit::Seconds, "Processor time of plugin calls, of one in sixteen");
    describe_histogram!(PLUGIN_FUEL, Unit::Count, "Fuel of plugin calls");
    describe_counter!(PLUGIN_FAULTS, Unit::Count, "Plugin calls that ended in a fault");
    describe_gauge!(TASKS_PENDING, Unit::Count, "Tasks that wait for a worker");
    describe_gauge!(TASKS_LOCKED, Unit::Count, "Tasks that a worker holds");
    describe_counter!(TASKS_CLAIMED, Unit::Count, "Tasks that were handed to workers");
    describe_counter!(TASKS_COMPLETED, Unit::Count, "Tasks that workers completed");
    describe_counter!(TASKS_FAILED, Unit::Count, "Attempts that workers reported as failed");
    describe_counter!(TASKS_TIMED_OUT, Unit::Count, "Deadlines of tasks that passed");
    describe_counter!(INSTANCES_STARTED, Unit::Count, "Instances that were started");
    describe_counter!(TASKS_CREATED, Unit::Count, "Tasks that were made");
    describe_counter!(TASKS_REPORTED, Unit::Count, "Reports and deadlines that changed a task");
    describe_counter!(INSTANCES_ENDED, Unit::Count, "Instances that ended");
    describe_counter!(COMMIT_CONFLICTS, Unit::Count, "Transitions that met another one");
    describe_counter!(STORE_STATEMENTS, Unit::Count, "Statements that the database ran");
    describe_counter!(STORE_TRANSACTIONS, Unit::Count, "Transactions of the database");
    describe_gauge!(POLLS_PARKED, Unit::Count, "Polls that wait on this host");
    describe_counter!(POLLS, Unit::Count, "Polls that came in");
    describe_gauge!(WORKERS_ACTIVE, Unit::Count, "Workers that work on tasks of this host");
    describe_gauge!(WORKERS, Unit::Count, "Workers that this host has heard of");
    describe_counter!(TIMERS_FIRED, Unit::Count, "Timers that fired");
    describe_histogram!(
        TIMER_LATENESS,
        Unit::Seconds,
        "From when timers were due until their firing was committed"
    );
    describe_counter!(OUTBOX_SENT, Unit::Count, "Outgoing items that left");
    describe_counter!(OUTBOX_DEAD, Unit::Count, "Outgoing items that were given up");
    describe_counter!(EVENTS_RECEIVED, Unit::Count, "Events from outside");
    describe_counter!(EVENTS_REJECTED, Unit::Count, "Events that were refused");
    describe_counter!(EVENTS_HANDLED, Unit::Count, "Events that this host gave to steps");
    describe_gauge!(WAITS_ACTIVE, Unit::Count, "Waits for events that are open");
    describe_gauge!(WAITS_OVERDUE, Unit::Count, "Waits that should have ended more than a minute ago");
    describe_gauge!(WAITS_OLDEST, Unit::Seconds, "Age of the oldest open wait");
    describe_histogram!(WAIT_SECONDS, Unit::Seconds, "Time of waits for events");
    describe_counter!(WAITS_ENDED, Unit::Count, "Waits for events that ended");
    describe_counter!(EVENT_ORDER, Unit::Count, "Which event of a wait came first");
    describe_counter!(RESUME_CONFLICTS, Unit::Count, "Events that met another one at the same instant");
    describe_gauge!(KAFKA_UP, Unit::Count, "Whether Kafka answers");
    describe_counter!(KAFKA_RECORDS, Unit::Count, "Records of Kafka that were read");
    describe_gauge!(KAFKA_LAG, Unit::Count, "Records of Kafka that are still to be taken in");
    describe_counter!(KAFKA_REBALANCES, Unit::Count, "How often partitions of Kafka were shared out anew");
    describe_counter!(KAFKA_DEAD_LETTERS, Unit::Count, "Records of Kafka that became dead letters");
    describe_counter!(LOOP_ERRORS, Unit::Count, "Rounds of background loops that failed");
    describe_counter!(RETENTION_REMOVED, Unit::Count, "Instances and journals that retention removed");
}
