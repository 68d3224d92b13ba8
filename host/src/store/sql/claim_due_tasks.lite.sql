-- Takes tasks with a deadline behind them, under a lease. The version stays: the row is as its holder knows
-- it.
update workflow_external_tasks as t set due_at = ?1 ->> 'lease_until'
where t.id in (
  select t.id from workflow_external_tasks as t
  where t.due_at <= ?1 ->> 'now'
  order by t.due_at
  limit ?1 ->> 'rows_max'
)
returning json_object(
  'id', id, 'tenant', tenant, 'workflow_instance_id', workflow_instance_id,
  'step_execution_id', step_execution_id, 'step_id', step_id, 'workflow_key', workflow_key,
  'business_key', business_key, 'key', key, 'task_type', task_type, 'priority', priority,
  'input', json(input), 'output', json(output), 'worker_id', worker_id, 'locked_at', locked_at,
  'lock_duration_seconds', lock_duration_seconds, 'lock_expires_at', lock_expires_at,
  'lock_token', lock_token, 'last_heartbeat_at', last_heartbeat_at,
  'heartbeat_interval_seconds', heartbeat_interval_seconds, 'heartbeat_max_missed', heartbeat_max_missed,
  'timeout_seconds', timeout_seconds, 'timeout_at', timeout_at, 'completed_at', completed_at,
  'status', status, 'retry_count', retry_count, 'max_retries', max_retries,
  'retry_initial_ms', retry_initial_ms, 'retry_factor_percent', retry_factor_percent,
  'retry_max_ms', retry_max_ms, 'retry_jitter_percent', retry_jitter_percent,
  'lock_expiries', lock_expiries, 'max_lock_expiries', max_lock_expiries, 'error_message', error_message,
  'error_code', error_code, 'error_details', error_details, 'checkpoint', json(checkpoint),
  'available_at', available_at, 'turn_at', turn_at, 'due_at', due_at, 'traceparent', traceparent,
  'created_at', created_at, 'updated_at', updated_at, 'version', version
)
