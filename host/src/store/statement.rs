//! Every statement of the store, by name: a pair of files, one for each dialect.

use std::sync::OnceLock;

use super::records::Layout;

/// A statement in both dialects. It takes one JSON text; on PostgreSQL, where many rows are written, records.
pub(super) struct Statement {
    /// The files' name.
    pub(super) name: &'static str,
    /// For PostgreSQL.
    pub(super) postgres: &'static str,
    /// For SQLite.
    pub(super) sqlite: &'static str,
    /// Whether the plan shall know the argument: for lists, whose absent filters then fall away.
    pub(super) planned_anew: bool,
    /// What the PostgreSQL text asks for, once somebody has looked.
    layout: OnceLock<Option<Layout>>,
}

impl Statement {
    /// The records that it takes on PostgreSQL; none if it takes JSON there, too.
    pub(super) fn layout(&'static self) -> Option<&'static Layout> {
        self.layout.get_or_init(|| Layout::of(self.postgres)).as_ref()
    }
}

/// The statements of a file, which are divided by a line `-- next`. Only the last one's rows count.
pub(super) fn parts(sql: &'static str) -> impl Iterator<Item = &'static str> {
    sql.split("-- next\n")
}

macro_rules! pairs {
    ($anew:literal; $($constant:ident = $name:literal,)+) => {$(
        pub(super) static $constant: Statement = Statement {
            name: $name,
            postgres: include_str!(concat!("sql/", $name, ".pg.sql")),
            sqlite: include_str!(concat!("sql/", $name, ".lite.sql")),
            planned_anew: $anew,
            layout: OnceLock::new(),
        };
    )+};
}

macro_rules! postgres_only {
    ($($constant:ident = $name:literal,)+) => {$(
        pub(super) static $constant: Statement = Statement {
            name: $name,
            postgres: include_str!(concat!("sql/", $name, ".pg.sql")),
            sqlite: "",
            planned_anew: false,
            layout: OnceLock::new(),
        };
    )+};
}

// Guards.
pairs! { false;
    GUARD_INSTANCES = "guard_instances",
    GUARD_TASKS = "guard_tasks",
    GUARD_TIMERS = "guard_timers",
    GUARD_SUBSCRIPTIONS = "guard_subscriptions",
    GUARD_OUTBOX = "guard_outbox",
    GUARD_DEFINITIONS = "guard_definitions",
    GUARD_NEWEST = "guard_newest",
    GUARD_SCHEDULES = "guard_schedules",
    CLAIM_START_KEYS = "claim_start_keys",
    USED_START_KEYS = "used_start_keys",
}

// Writes of a transition.
pairs! { false;
    INSERT_DEFINITIONS = "insert_definitions",
    KEEP_SCHEDULES = "keep_schedules",
    UPSERT_SCHEDULES = "upsert_schedules",
    UPDATE_SCHEDULES = "update_schedules",
    WAKE_SCHEDULES = "wake_schedules",
    KEEP_EVENT_TRIGGERS = "keep_event_triggers",
    UPSERT_EVENT_TRIGGERS = "upsert_event_triggers",
    INSERT_TOPICS = "insert_topics",
    UPSERT_WAITS = "upsert_waits",
    INSERT_KEPT = "insert_kept",
    DELETE_KEPT = "delete_kept",
    FORGET_WAITS = "forget_waits",
    INSERT_REJECTED = "insert_rejected",
    FORGET_REJECTED = "forget_rejected",
    INSERT_PLUGINS = "insert_plugins",
    INSERT_TOKENS = "insert_tokens",
    REVOKE_TOKENS = "revoke_tokens",
    INSERT_INSTANCES = "insert_instances",
    UPDATE_INSTANCES = "update_instances",
    UPSERT_STEPS = "upsert_steps",
    INSERT_TASKS = "insert_tasks",
    UPDATE_TASKS = "update_tasks",
    LOCK_TASKS = "lock_tasks",
    CANCEL_TASKS = "cancel_tasks",
    FIRE_TIMERS = "fire_timers",
    CANCEL_TIMERS = "cancel_timers",
    UPSERT_TIMERS = "upsert_timers",
    DELETE_SUBSCRIPTIONS = "delete_subscriptions",
    INSERT_SUBSCRIPTIONS = "insert_subscriptions",
    INSERT_OUTBOX = "insert_outbox",
    UPDATE_OUTBOX = "update_outbox",
    DELETE_OUTBOX = "delete_outbox",
    INSERT_EVENTS = "insert_events",
    DELETE_EVENTS = "delete_events",
    INSERT_INCIDENTS = "insert_incidents",
    RESOLVE_INCIDENTS = "resolve_incidents",
    INSERT_BLOBS = "insert_blobs",
    INSERT_JOURNAL = "insert_journal",
    NOTE_WORKERS = "note_workers",
    FORGET_WORKERS = "forget_workers",
    CLOSE_STEPS = "close_steps",
    CLOSE_INSTANCES = "close_instances",
    UPSERT_BATCHES = "upsert_batches",
    FORGET_BATCHES = "forget_batches",
    UPSERT_SECRETS = "upsert_secrets",
    RESEAL_SECRETS = "reseal_secrets",
    DELETE_SECRETS = "delete_secrets",
    UPSERT_SENDERS = "upsert_senders",
    DELETE_SENDERS = "delete_senders",
    INSERT_REMINDERS = "insert_reminders",
    INSERT_DEAD = "insert_dead",
    DELETE_DEAD = "delete_dead",
    DELETE_JOURNALS = "delete_journals",
    DELETE_INSTANCES = "delete_instances",
}

// Claims.
pairs! { false;
    CLAIM_TASKS = "claim_tasks",
    CLAIM_DUE_TASKS = "claim_due_tasks",
    LEASE_TASKS = "lease_tasks",
    CLAIM_TIMERS = "claim_timers",
    CLAIM_OUTBOX = "claim_outbox",
    CLAIM_SCHEDULES = "claim_schedules",
}

// Reads.
pairs! { false;
    DEFINITION = "definition",
    INSTANCE = "instance",
    STEPS = "steps",
    NEWEST_STEPS = "newest_steps",
    STEP_EXECUTION = "step_execution",
    TASK = "task",
    PENDING_TASKS = "pending_tasks",
    EVENTS = "events",
    INCIDENT = "incident",
    MATCHING = "matching",
    START_KEY = "start_key",
    NEXT_DUE = "next_due",
    AVAILABLE_SINCE = "available_since",
    DEFINITIONS = "definitions",
    TIMERS = "timers",
    TIMER = "timer",
    SCHEDULE = "schedule",
    INSTANCES_OF_TIMERS = "instances_of_timers",
    STEPS_OF_TIMERS = "steps_of_timers",
    BLOBS = "blobs",
    TOKEN = "token",
    TOKENS = "tokens",
    HAS_TOKENS = "has_tokens",
    PLUGINS = "plugins",
    COMPONENT = "component",
    TASK_COUNTS = "task_counts",
    ENDED_BEFORE = "ended_before",
    PING = "ping",
    WORKER = "worker",
    PENDING_TYPES = "pending_types",
    HELD_BY = "held_by",
    WITHDRAWN_FROM = "withdrawn_from",
    AHEAD_OF = "ahead_of",
    BATCHES = "batches",
    DUE_BATCHES = "due_batches",
    SECRETS = "secrets",
    OTHER_KEY_SECRETS = "other_key_secrets",
    WAIT_STATE = "wait_state",
    WAITS_FOR = "waits_for",
    WAIT_COUNT = "wait_count",
    KEPT_EVENTS = "kept_events",
    KEPT_SUM = "kept_sum",
    KEPT_EXPIRED = "kept_expired",
    TOPIC_FIELDS = "topic_fields",
    EVENT_TRIGGERS = "event_triggers",
    EVENT_TOPICS = "event_topics",
    SENDERS = "senders",
}

// Lists with filters.
pairs! { true;
    INSTANCES = "instances",
    TASKS = "tasks",
    INCIDENTS = "incidents",
    TIMER_LIST = "timer_list",
    SCHEDULES = "schedules",
    JOURNAL = "journal",
    OUTBOX = "outbox",
    DEAD_ITEMS = "dead_items",
    WAIT_STATES = "wait_states",
    REJECTED_EVENTS = "rejected_events",
    REMINDERS = "reminders",
    WORKERS = "workers",
    FIND_TASKS = "find_tasks",
    COUNT_TASKS = "count_tasks",
    FILTERED_TASKS = "filtered_tasks",
    TASK_TYPES = "task_types",
    INSTANCES_OF = "instances_of",
}

// Lanes and hints; what was done by a try whose answer was lost.
postgres_only! {
    SEAL_LANE = "seal_lane",
    LOOK_LANE = "look_lane",
    SWEEP_LANES = "sweep_lanes",
    NOTIFY = "notify",
    CLAIMED_TASKS = "claimed_tasks",
    LEASED_TASKS = "leased_tasks",
}
