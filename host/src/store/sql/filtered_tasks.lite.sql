-- Tasks of a type that can be handed out and that a worker's filters let through. Only the first of the queue are looked
-- at; every row says how many those were, and one row comes even if no task does.
with looked as materialized (
  select p.id, p.workflow_instance_id
  from workflow_external_tasks as p
  where p.tenant = ?1 ->> 'tenant' and p.task_type = ?1 ->> 'task_type'
    and p.status = 'PENDING' and p.available_at <= ?1 ->> 'now'
  order by p.turn_at, p.id
  limit ?1 ->> 'look_max'
), found as (
  select t.*
  from looked as l
  join workflow_external_tasks as t on t.id = l.id
  join workflow_instances as i on i.id = l.workflow_instance_id
  where i.status <> 'paused'
    and (?1 ->> 'business_key' is null or t.business_key = ?1 ->> 'business_key')
    and (?1 ->> 'definition_ids' is null or t.workflow_key || ':' || i.workflow_version in (
      select e.value from json_each(?1, '$.definition_ids') as e))
    and (?1 ->> 'workflow_keys' is null or t.workflow_key in (
      select e.value from json_each(?1, '$.workflow_keys') as e))
    and (?1 ->> 'version_tag' is null or exists (
      select 1 from workflow_definitions as d
      where d.tenant = t.tenant and d.key = t.workflow_key and d.version = i.workflow_version
        and d.document ->> 'versionTag' like ?1 ->> 'version_tag'))
    and (?1 ->> 'variables' is null or exists (
      select 1 from json_each(?1, '$.variables') as v
      join json_each(i.context) as c on c.key = v.key
      where c.value is v.value
        and (c.type = v.type or (c.type in ('integer', 'real') and v.type in ('integer', 'real')))))
  order by
    iif(?1 ->> 'by_priority', t.priority, null),
    iif(?1 ->> 'newest_first' is 0, t.created_at, null),
    iif(?1 ->> 'newest_first' is 1, t.created_at, null) desc,
    t.turn_at, t.id
  limit ?1 ->> 'rows_max'
)
select json_object('looked_at', c.looked_at, 'task', case when f.id is not null then
  json_object(
      'id', f.id, 'tenant', f.tenant, 'workflow_instance_id', f.workflow_instance_id,
      'step_execution_id', f.step_execution_id, 'step_id', f.step_id, 'workflow_key', f.workflow_key,
      'business_key', f.business_key, 'key', f.key, 'task_type', f.task_type, 'priority', f.priority,
      'input', json(f.input), 'output', json(f.output), 'worker_id', f.worker_id, 'locked_at', f.locked_at,
      'lock_duration_seconds', f.lock_duration_seconds, 'lock_expires_at', f.lock_expires_at,
      'lock_token', f.lock_token, 'last_heartbeat_at', f.last_heartbeat_at,
      'heartbeat_interval_seconds', f.heartbeat_interval_seconds,
      'heartbeat_max_missed', f.heartbeat_max_missed, 'timeout_seconds', f.timeout_seconds,
      'timeout_at', f.timeout_at, 'completed_at', f.completed_at, 'status', f.status,
      'retry_count', f.retry_count, 'max_retries', f.max_retries, 'retry_initial_ms', f.retry_initial_ms,
      'retry_factor_percent', f.retry_factor_percent, 'retry_max_ms', f.retry_max_ms,
      'retry_jitter_percent', f.retry_jitter_percent, 'lock_expiries', f.lock_expiries,
      'max_lock_expiries', f.max_lock_expiries, 'error_message', f.error_message, 'error_code', f.error_code,
      'error_details', f.error_details, 'checkpoint', json(f.checkpoint), 'available_at', f.available_at,
      'turn_at', f.turn_at, 'due_at', f.due_at, 'traceparent', f.traceparent, 'created_at', f.created_at,
      'updated_at', f.updated_at, 'version', f.version
    )
  end)
from (select count(*) as looked_at from looked) as c
left join found as f on true
