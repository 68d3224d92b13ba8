-- Locks one pending task for each slot, by turn: for each type the index has the rows in that order. A row that
-- another host is taking is passed over. due_at is what Task::deadline computes.
update workflow_external_tasks as t set
  status = 'LOCKED', worker_id = h.worker_id, lock_token = h.lock_token, locked_at = ?1 ->> 'now',
  last_heartbeat_at = ?1 ->> 'now', updated_at = ?1 ->> 'now', lock_expires_at = h.lock_expires_at,
  due_at = min(coalesce(t.timeout_at, h.lock_expires_at), h.lock_expires_at,
    coalesce(h.heartbeat_due_at, h.lock_expires_at)),
  version = t.version + 1
from (
  select p.id, s.value ->> 'worker_id' as worker_id, s.value ->> 'lock_token' as lock_token,
    coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', ?1 ->> 'now',
      coalesce((s.value ->> 'lock_ms') / 1000.0, p.lock_duration_seconds) || ' seconds'),
      '9999-12-31T23:59:59.999Z') as lock_expires_at,
    iif(p.heartbeat_interval_seconds is null, null,
      coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', ?1 ->> 'now',
        (p.heartbeat_interval_seconds * max(p.heartbeat_max_missed, 1)) || ' seconds'),
        '9999-12-31T23:59:59.999Z')) as heartbeat_due_at
  from (
    select o.*, row_number() over (order by o.turn_at, o.id) as number
    from (
      select c.id, c.turn_at, c.lock_duration_seconds, c.heartbeat_interval_seconds,
        c.heartbeat_max_missed
      from json_each(?1 -> 'task_types') as w
      cross join workflow_external_tasks as c
      where c.id in (
        select i.id from workflow_external_tasks as i
        where i.tenant = ?1 ->> 'tenant' and i.task_type = w.value
          and i.status = 'PENDING' and i.available_at <= ?1 ->> 'now'
        order by i.turn_at, i.id
        limit json_array_length(?1 -> 'slots')
      )
      order by c.turn_at, c.id
      limit json_array_length(?1 -> 'slots')
    ) as o
  ) as p
  join json_each(?1 -> 'slots') as s on s.key = p.number - 1
) as h
where t.id = h.id
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
