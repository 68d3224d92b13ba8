-- Tasks changed, each from the version before. Their input never does. Returns what was written.
-- The tenant is compared in a way that no index can serve: the key leads to the row, whatever else looks cheap
-- to a planner that has seen an empty table.
update workflow_external_tasks as t set
  priority = r.priority, output = r.output, worker_id = r.worker_id,
  locked_at = r.locked_at, lock_duration_seconds = r.lock_duration_seconds,
  lock_expires_at = r.lock_expires_at, lock_token = r.lock_token, last_heartbeat_at = r.last_heartbeat_at,
  heartbeat_interval_seconds = r.heartbeat_interval_seconds, heartbeat_max_missed = r.heartbeat_max_missed,
  timeout_seconds = r.timeout_seconds, timeout_at = r.timeout_at, completed_at = r.completed_at,
  status = r.status, retry_count = r.retry_count, max_retries = r.max_retries,
  retry_initial_ms = r.retry_initial_ms, retry_factor_percent = r.retry_factor_percent,
  retry_max_ms = r.retry_max_ms, retry_jitter_percent = r.retry_jitter_percent,
  lock_expiries = r.lock_expiries, max_lock_expiries = r.max_lock_expiries, error_message = r.error_message,
  error_code = r.error_code, error_details = r.error_details, checkpoint = r.checkpoint,
  available_at = r.available_at, turn_at = r.turn_at, due_at = r.due_at, traceparent = r.traceparent,
  updated_at = r.updated_at, version = r.version
from unnest($1::workflow_update_tasks_row[]) as r
where t.id = r.id and (t.tenant = r.tenant) is true and t.version = r.version - 1
