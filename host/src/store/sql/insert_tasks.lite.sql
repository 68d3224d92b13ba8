-- New tasks. (step, key) is unique.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into workflow_external_tasks (
  id, tenant, workflow_instance_id, step_execution_id, step_id, workflow_key, business_key, key, task_type,
  priority, input, output, worker_id, locked_at, lock_duration_seconds, lock_expires_at, lock_token,
  last_heartbeat_at, heartbeat_interval_seconds, heartbeat_max_missed, timeout_seconds, timeout_at,
  completed_at, status, retry_count, max_retries, retry_initial_ms, retry_factor_percent, retry_max_ms,
  retry_jitter_percent, lock_expiries, max_lock_expiries, error_message, error_code, error_details,
  checkpoint, available_at, turn_at, due_at, traceparent, created_at, updated_at, version
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'workflow_instance_id',
  r.value ->> 'step_execution_id', r.value ->> 'step_id', r.value ->> 'workflow_key',
  r.value ->> 'business_key', r.value ->> 'key', r.value ->> 'task_type', r.value ->> 'priority',
  r.value -> 'input', nullif(r.value -> 'output', 'null'), r.value ->> 'worker_id', r.value ->> 'locked_at',
  r.value ->> 'lock_duration_seconds', r.value ->> 'lock_expires_at', r.value ->> 'lock_token',
  r.value ->> 'last_heartbeat_at', r.value ->> 'heartbeat_interval_seconds',
  r.value ->> 'heartbeat_max_missed', r.value ->> 'timeout_seconds', r.value ->> 'timeout_at',
  r.value ->> 'completed_at', r.value ->> 'status', r.value ->> 'retry_count', r.value ->> 'max_retries',
  r.value ->> 'retry_initial_ms', r.value ->> 'retry_factor_percent', r.value ->> 'retry_max_ms',
  r.value ->> 'retry_jitter_percent', r.value ->> 'lock_expiries', r.value ->> 'max_lock_expiries',
  r.value ->> 'error_message', r.value ->> 'error_code', r.value ->> 'error_details',
  nullif(r.value -> 'checkpoint', 'null'), r.value ->> 'available_at', r.value ->> 'turn_at',
  r.value ->> 'due_at', r.value ->> 'traceparent', r.value ->> 'created_at', r.value ->> 'updated_at', r.value ->> 'version'
from r
