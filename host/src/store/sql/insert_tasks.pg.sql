-- New tasks. (step, key) is unique.
insert into workflow_external_tasks (
  id, tenant, workflow_instance_id, step_execution_id, step_id, workflow_key, business_key, key, task_type,
  priority, input, output, worker_id, locked_at, lock_duration_seconds, lock_expires_at, lock_token,
  last_heartbeat_at, heartbeat_interval_seconds, heartbeat_max_missed, timeout_seconds, timeout_at,
  completed_at, status, retry_count, max_retries, retry_initial_ms, retry_factor_percent, retry_max_ms,
  retry_jitter_percent, lock_expiries, max_lock_expiries, error_message, error_code, error_details,
  checkpoint, available_at, turn_at, due_at, traceparent, created_at, updated_at, version
)
select
  r.id, r.tenant, r.workflow_instance_id, r.step_execution_id, r.step_id, r.workflow_key, r.business_key,
  r.key, r.task_type, r.priority, coalesce(r.input, 'null'), r.output, r.worker_id, r.locked_at,
  r.lock_duration_seconds, r.lock_expires_at, r.lock_token, r.last_heartbeat_at,
  r.heartbeat_interval_seconds, r.heartbeat_max_missed, r.timeout_seconds, r.timeout_at, r.completed_at,
  r.status, r.retry_count, r.max_retries, r.retry_initial_ms, r.retry_factor_percent, r.retry_max_ms,
  r.retry_jitter_percent, r.lock_expiries, r.max_lock_expiries, r.error_message, r.error_code,
  r.error_details, r.checkpoint, r.available_at, r.turn_at, r.due_at, r.traceparent, r.created_at,
  r.updated_at, r.version
from unnest($1::workflow_insert_tasks_row[]) as r
