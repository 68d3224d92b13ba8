-- New tasks. (step, key) is unique.
insert into workflow_external_tasks (
  id, tenant, workflow_instance_id, step_execution_id, step_id, workflow_key, business_key, key, task_type,
  priority, input, output, worker_id, locked_at, lock_duration_seconds, lock_expires_at, lock_token,
  last_heartbeat_at, heartbeat_interval_seconds, heartbeat_max_missed, timeout_seconds, timeout_at,
  completed_at, status, retry_count, max_retries, retry_initial_ms, retry_factor_percent, retry_max_ms,
  retry_jitter_percent, lock_expiries, max_lock_expiries, error_message, error_code, error_details,
  checkpoint, available_at, due_at, traceparent, created_at, updated_at, version
)
select
  r.id, r.tenant, r.workflow_instance_id, r.step_execution_id, r.step_id, r.workflow_key, r.business_key,
  r.key, r.task_type, r.priority, coalesce(r.input, 'null'), r.output, r.worker_id, r.locked_at,
  r.lock_duration_seconds, r.lock_expires_at, r.lock_token, r.last_heartbeat_at,
  r.heartbeat_interval_seconds, r.heartbeat_max_missed, r.timeout_seconds, r.timeout_at, r.completed_at,
  r.status, r.retry_count, r.max_retries, r.retry_initial_ms, r.retry_factor_percent, r.retry_max_ms,
  r.retry_jitter_percent, r.lock_expiries, r.max_lock_expiries, r.error_message, r.error_code,
  r.error_details, r.checkpoint, r.available_at, r.due_at, r.traceparent, r.created_at, r.updated_at,
  r.version
from json_to_recordset($1::json) as r (
  id uuid, tenant text, workflow_instance_id uuid, step_execution_id uuid, step_id text, workflow_key text,
  business_key text, key text, task_type text, priority bigint, input jsonb, output jsonb, worker_id text,
  locked_at timestamptz, lock_duration_seconds double precision, lock_expires_at timestamptz,
  lock_token uuid, last_heartbeat_at timestamptz, heartbeat_interval_seconds double precision,
  heartbeat_max_missed integer, timeout_seconds double precision, timeout_at timestamptz,
  completed_at timestamptz, status text, retry_count integer, max_retries integer, retry_initial_ms bigint,
  retry_factor_percent integer, retry_max_ms bigint, retry_jitter_percent integer, lock_expiries integer,
  max_lock_expiries integer, error_message text, error_code text, error_details text, checkpoint jsonb,
  available_at timestamptz, due_at timestamptz, traceparent text, created_at timestamptz,
  updated_at timestamptz, version bigint
)
