-- Tasks that can be claimed, of some types, in the order of each type's index.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'workflow_instance_id', t.workflow_instance_id,
  'step_execution_id', t.step_execution_id, 'step_id', t.step_id, 'workflow_key', t.workflow_key,
  'business_key', t.business_key, 'key', t.key, 'task_type', t.task_type, 'priority', t.priority,
  'input', json(t.input), 'output', json(t.output), 'worker_id', t.worker_id, 'locked_at', t.locked_at,
  'lock_duration_seconds', t.lock_duration_seconds, 'lock_expires_at', t.lock_expires_at,
  'lock_token', t.lock_token, 'last_heartbeat_at', t.last_heartbeat_at,
  'heartbeat_interval_seconds', t.heartbeat_interval_seconds,
  'heartbeat_max_missed', t.heartbeat_max_missed, 'timeout_seconds', t.timeout_seconds,
  'timeout_at', t.timeout_at, 'completed_at', t.completed_at, 'status', t.status,
  'retry_count', t.retry_count, 'max_retries', t.max_retries, 'retry_initial_ms', t.retry_initial_ms,
  'retry_factor_percent', t.retry_factor_percent, 'retry_max_ms', t.retry_max_ms,
  'retry_jitter_percent', t.retry_jitter_percent, 'lock_expiries', t.lock_expiries,
  'max_lock_expiries', t.max_lock_expiries, 'error_message', t.error_message, 'error_code', t.error_code,
  'error_details', t.error_details, 'checkpoint', json(t.checkpoint), 'available_at', t.available_at,
  'turn_at', t.turn_at, 'due_at', t.due_at, 'traceparent', t.traceparent, 'created_at', t.created_at,
  'updated_at', t.updated_at, 'version', t.version
)
from json_each(?1 -> 'task_types') as w
cross join workflow_external_tasks as t
where t.id in (
  select i.id from workflow_external_tasks as i
  where i.tenant = ?1 ->> 'tenant' and i.task_type = w.value
    and i.status = 'PENDING' and i.available_at <= ?1 ->> 'now'
  order by i.turn_at, i.id
  limit ?1 ->> 'rows_max'
)
limit ?1 ->> 'rows_max'
