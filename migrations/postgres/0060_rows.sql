-- Rows as the host hands them over: one array of records for each kind, which the server takes apart once. An array for
-- each column costs it several times as much. A type never changes: hosts of two versions may use one database, so what needs
-- another shape gets another type in a later step.

create type workflow_cancel_timers_row as (
  tenant text, step_execution_id uuid, key text
);

create type workflow_fire_timers_row as (
  id uuid, tenant text, trigger_at timestamptz, at timestamptz
);

create type workflow_insert_blobs_row as (
  tenant text, instance_id uuid, hash text, body text
);

create type workflow_insert_instances_row as (
  id uuid, tenant text, workflow_key text, workflow_version integer, business_key text, status text,
  version bigint, open_steps integer, open_incidents integer, context jsonb, "trigger" jsonb, error jsonb,
  traceparent text, created_at timestamptz, updated_at timestamptz, ended_at timestamptz, turns jsonb
);

create type workflow_insert_journal_row as (
  id uuid, tenant text, instance_id uuid, subject_id uuid, seq bigint, kind text, step_id text,
  at timestamptz, plugin_digest text, note text, call text, answer text, fuel bigint, memory_bytes bigint, more text
);

create type workflow_insert_tasks_row as (
  id uuid, tenant text, workflow_instance_id uuid, step_execution_id uuid, step_id text, workflow_key text,
  business_key text, key text, task_type text, priority bigint, input jsonb, output jsonb, worker_id text,
  locked_at timestamptz, lock_duration_seconds double precision, lock_expires_at timestamptz, lock_token uuid,
  last_heartbeat_at timestamptz, heartbeat_interval_seconds double precision, heartbeat_max_missed integer,
  timeout_seconds double precision, timeout_at timestamptz, completed_at timestamptz, status text,
  retry_count integer, max_retries integer, retry_initial_ms bigint, retry_factor_percent integer,
  retry_max_ms bigint, retry_jitter_percent integer, lock_expiries integer, max_lock_expiries integer,
  error_message text, error_code text, error_details text, checkpoint jsonb, available_at timestamptz,
  turn_at timestamptz, due_at timestamptz, traceparent text, created_at timestamptz, updated_at timestamptz,
  version bigint
);

create type workflow_lock_tasks_row as (
  id uuid, tenant text, worker_id text, lock_token uuid, locked_at timestamptz, lock_expires_at timestamptz,
  due_at timestamptz, version bigint
);

create type workflow_update_instances_row as (
  id uuid, tenant text, status text, version bigint, open_steps integer, open_incidents integer, error jsonb,
  context jsonb, updated_at timestamptz, ended_at timestamptz, turns jsonb
);

create type workflow_update_tasks_row as (
  id uuid, tenant text, priority bigint, output jsonb, worker_id text, locked_at timestamptz,
  lock_duration_seconds double precision, lock_expires_at timestamptz, lock_token uuid,
  last_heartbeat_at timestamptz, heartbeat_interval_seconds double precision, heartbeat_max_missed integer,
  timeout_seconds double precision, timeout_at timestamptz, completed_at timestamptz, status text,
  retry_count integer, max_retries integer, retry_initial_ms bigint, retry_factor_percent integer,
  retry_max_ms bigint, retry_jitter_percent integer, lock_expiries integer, max_lock_expiries integer,
  error_message text, error_code text, error_details text, checkpoint jsonb, available_at timestamptz,
  turn_at timestamptz, due_at timestamptz, traceparent text, updated_at timestamptz, version bigint
);

create type workflow_upsert_steps_row as (
  id uuid, tenant text, instance_id uuid, step_id text, attempt integer, step_type text, status text,
  plugin_digest text, config text, state text, state_version integer, seq bigint, effect_keys jsonb,
  arrived integer, arrived_live integer, output jsonb, error jsonb, started_at timestamptz,
  ended_at timestamptz
);

create type workflow_upsert_timers_row as (
  id uuid, tenant text, workflow_instance_id uuid, step_execution_id uuid, step_id text, key text,
  timer_type text, trigger_at timestamptz, triggered boolean, triggered_at timestamptz, reminder_config jsonb,
  created_at timestamptz
);

create type workflow_upsert_waits_row as (
  id uuid, tenant text, execution_id uuid, node_id text, attempt integer, correlation_id text,
  aggregation_strategy text, required_events jsonb, enabled_events jsonb, api_call_enabled boolean,
  kafka_event_enabled boolean, api_response_data jsonb, kafka_event_data jsonb, event_data jsonb,
  received_events jsonb, listeners jsonb, status text, warning text, resumed_at timestamptz, resumed_by text,
  created_at timestamptz, updated_at timestamptz, expires_at timestamptz
);
