-- Leases on tasks changed, if they still have the version that was read. Returns what was written.
with r as materialized (select jsonb(value) as value from json_each(?1))
update workflow_external_tasks as t set
  priority = r.value ->> 'priority',
  output = nullif(r.value -> 'output', 'null'), worker_id = r.value ->> 'worker_id',
  locked_at = r.value ->> 'locked_at', lock_duration_seconds = r.value ->> 'lock_duration_seconds',
  lock_expires_at = r.value ->> 'lock_expires_at', lock_token = r.value ->> 'lock_token',
  last_heartbeat_at = r.value ->> 'last_heartbeat_at',
  heartbeat_interval_seconds = r.value ->> 'heartbeat_interval_seconds',
  heartbeat_max_missed = r.value ->> 'heartbeat_max_missed',
  timeout_seconds = r.value ->> 'timeout_seconds', timeout_at = r.value ->> 'timeout_at',
  completed_at = r.value ->> 'completed_at', status = r.value ->> 'status',
  retry_count = r.value ->> 'retry_count', max_retries = r.value ->> 'max_retries',
  retry_initial_ms = r.value ->> 'retry_initial_ms',
  retry_factor_percent = r.value ->> 'retry_factor_percent', retry_max_ms = r.value ->> 'retry_max_ms',
  retry_jitter_percent = r.value ->> 'retry_jitter_percent', lock_expiries = r.value ->> 'lock_expiries',
  max_lock_expiries = r.value ->> 'max_lock_expiries', error_message = r.value ->> 'error_message',
  error_code = r.value ->> 'error_code', error_details = r.value ->> 'error_details',
  checkpoint = nullif(r.value -> 'checkpoint', 'null'), available_at = r.value ->> 'available_at',
  turn_at = r.value ->> 'turn_at',
  due_at = r.value ->> 'due_at', traceparent = r.value ->> 'traceparent',
  updated_at = r.value ->> 'updated_at', version = r.value ->> 'version'
from r
where t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
  and t.version = r.value ->> 'read_version'
returning json_quote(id)
