-- Open tasks with any of Camunda's filters, without what workers got and gave. Planned anew for each call, so that
-- filters that are absent fall away.
select json_object('task', json_object(
  'id', t.id, 'tenant', t.tenant, 'workflow_instance_id', t.workflow_instance_id,
  'step_execution_id', t.step_execution_id, 'step_id', t.step_id, 'workflow_key', t.workflow_key,
  'business_key', t.business_key, 'key', t.key, 'task_type', t.task_type, 'priority', t.priority,
  'input', null, 'output', null, 'worker_id', t.worker_id, 'locked_at', t.locked_at,
  'lock_duration_seconds', t.lock_duration_seconds, 'lock_expires_at', t.lock_expires_at,
  'lock_token', t.lock_token, 'last_heartbeat_at', t.last_heartbeat_at,
  'heartbeat_interval_seconds', t.heartbeat_interval_seconds,
  'heartbeat_max_missed', t.heartbeat_max_missed, 'timeout_seconds', t.timeout_seconds,
  'timeout_at', t.timeout_at, 'completed_at', t.completed_at, 'status', t.status,
  'retry_count', t.retry_count, 'max_retries', t.max_retries, 'retry_initial_ms', t.retry_initial_ms,
  'retry_factor_percent', t.retry_factor_percent, 'retry_max_ms', t.retry_max_ms,
  'retry_jitter_percent', t.retry_jitter_percent, 'lock_expiries', t.lock_expiries,
  'max_lock_expiries', t.max_lock_expiries, 'error_message', t.error_message, 'error_code', t.error_code,
  'error_details', t.error_details, 'checkpoint', null, 'available_at', t.available_at,
  'turn_at', t.turn_at, 'due_at', t.due_at, 'traceparent', t.traceparent, 'created_at', t.created_at,
  'updated_at', t.updated_at, 'version', t.version
),
  'workflow_version', i.workflow_version, 'instance_status', i.status, 'version_tag', (
    select d.document ->> 'versionTag' from workflow_definitions as d
    where d.tenant = t.tenant and d.key = t.workflow_key and d.version = i.workflow_version)
)
from (
  select *, case
    when status = 'LOCKED' then lock_expires_at
    when worker_id is not null and available_at > created_at then available_at
  end as locked_until
  from workflow_external_tasks
) as t
join workflow_instances as i on i.id = t.workflow_instance_id
where t.tenant = ?1 ->> 'tenant'
  and (t.status in ('PENDING', 'LOCKED') or (t.status = 'FAILED' and i.status not in ('completed', 'cancelled')))
  and (?1 ->> 'ids' is null or t.id in (
    select e.value from json_each(?1, '$.ids') as e))
  and (?1 ->> 'task_type' is null or t.task_type = ?1 ->> 'task_type')
  and (?1 ->> 'worker_id' is null or t.worker_id = ?1 ->> 'worker_id')
  and (not (?1 ->> 'locked') or t.locked_until > ?1 ->> 'now')
  and (not (?1 ->> 'not_locked')
    or t.locked_until is null or t.locked_until < ?1 ->> 'now')
  and (not (?1 ->> 'retries_left') or t.status <> 'FAILED')
  and (not (?1 ->> 'no_retries_left') or t.status = 'FAILED')
  and (?1 ->> 'locked_after' is null or t.locked_until > ?1 ->> 'locked_after')
  and (?1 ->> 'locked_before' is null or t.locked_until < ?1 ->> 'locked_before')
  and (?1 ->> 'step_ids' is null or t.step_id in (
    select e.value from json_each(?1, '$.step_ids') as e))
  and (?1 ->> 'step_execution_id' is null
    or t.step_execution_id = ?1 ->> 'step_execution_id')
  and (?1 ->> 'instance_ids' is null or t.workflow_instance_id in (
    select e.value from json_each(?1, '$.instance_ids') as e))
  and (?1 ->> 'definition_ids' is null or t.workflow_key || ':' || i.workflow_version in (
    select e.value from json_each(?1, '$.definition_ids') as e))
  and (?1 ->> 'workflow_keys' is null or t.workflow_key in (
    select e.value from json_each(?1, '$.workflow_keys') as e))
  and (?1 ->> 'workflow_name' is null and ?1 ->> 'workflow_name_like' is null or exists (
    select 1 from workflow_definitions as d
    where d.tenant = t.tenant and d.key = t.workflow_key and d.version = i.workflow_version
      and (?1 ->> 'workflow_name' is null or d.name = ?1 ->> 'workflow_name')
      and (?1 ->> 'workflow_name_like' is null or d.name like ?1 ->> 'workflow_name_like')))
  and (?1 ->> 'business_key' is null or t.business_key = ?1 ->> 'business_key')
  and (not (?1 ->> 'active') or i.status <> 'paused')
  and (not (?1 ->> 'suspended') or i.status = 'paused')
  and (?1 ->> 'priority_min' is null or t.priority >= ?1 ->> 'priority_min')
  and (?1 ->> 'priority_max' is null or t.priority <= ?1 ->> 'priority_max')
order by
  case when not (?1 ->> '$.sorts[0].desc') then case ?1 ->> '$.sorts[0].by'
    when 'id' then t.id
    when 'processInstanceId' then t.workflow_instance_id
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end,
  case when ?1 ->> '$.sorts[0].desc' then case ?1 ->> '$.sorts[0].by'
    when 'id' then t.id
    when 'processInstanceId' then t.workflow_instance_id
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end desc,
  case when not (?1 ->> '$.sorts[0].desc') then case ?1 ->> '$.sorts[0].by'
    when 'taskPriority' then -t.priority
    when 'createTime' then julianday(t.created_at)
    when 'lockExpirationTime' then julianday(t.locked_until)
  end end,
  case when ?1 ->> '$.sorts[0].desc' then case ?1 ->> '$.sorts[0].by'
    when 'taskPriority' then -t.priority
    when 'createTime' then julianday(t.created_at)
    when 'lockExpirationTime' then julianday(t.locked_until)
  end end desc,
  case when not (?1 ->> '$.sorts[1].desc') then case ?1 ->> '$.sorts[1].by'
    when 'id' then t.id
    when 'processInstanceId' then t.workflow_instance_id
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end,
  case when ?1 ->> '$.sorts[1].desc' then case ?1 ->> '$.sorts[1].by'
    when 'id' then t.id
    when 'processInstanceId' then t.workflow_instance_id
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end desc,
  case when not (?1 ->> '$.sorts[1].desc') then case ?1 ->> '$.sorts[1].by'
    when 'taskPriority' then -t.priority
    when 'createTime' then julianday(t.created_at)
    when 'lockExpirationTime' then julianday(t.locked_until)
  end end,
  case when ?1 ->> '$.sorts[1].desc' then case ?1 ->> '$.sorts[1].by'
    when 'taskPriority' then -t.priority
    when 'createTime' then julianday(t.created_at)
    when 'lockExpirationTime' then julianday(t.locked_until)
  end end desc,
  case when not (?1 ->> '$.sorts[2].desc') then case ?1 ->> '$.sorts[2].by'
    when 'id' then t.id
    when 'processInstanceId' then t.workflow_instance_id
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end,
  case when ?1 ->> '$.sorts[2].desc' then case ?1 ->> '$.sorts[2].by'
    when 'id' then t.id
    when 'processInstanceId' then t.workflow_instance_id
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end desc,
  case when not (?1 ->> '$.sorts[2].desc') then case ?1 ->> '$.sorts[2].by'
    when 'taskPriority' then -t.priority
    when 'createTime' then julianday(t.created_at)
    when 'lockExpirationTime' then julianday(t.locked_until)
  end end,
  case when ?1 ->> '$.sorts[2].desc' then case ?1 ->> '$.sorts[2].by'
    when 'taskPriority' then -t.priority
    when 'createTime' then julianday(t.created_at)
    when 'lockExpirationTime' then julianday(t.locked_until)
  end end desc,
  case when not (?1 ->> '$.sorts[3].desc') then case ?1 ->> '$.sorts[3].by'
    when 'id' then t.id
    when 'processInstanceId' then t.workflow_instance_id
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end,
  case when ?1 ->> '$.sorts[3].desc' then case ?1 ->> '$.sorts[3].by'
    when 'id' then t.id
    when 'processInstanceId' then t.workflow_instance_id
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end desc,
  case when not (?1 ->> '$.sorts[3].desc') then case ?1 ->> '$.sorts[3].by'
    when 'taskPriority' then -t.priority
    when 'createTime' then julianday(t.created_at)
    when 'lockExpirationTime' then julianday(t.locked_until)
  end end,
  case when ?1 ->> '$.sorts[3].desc' then case ?1 ->> '$.sorts[3].by'
    when 'taskPriority' then -t.priority
    when 'createTime' then julianday(t.created_at)
    when 'lockExpirationTime' then julianday(t.locked_until)
  end end desc,
  t.created_at, t.id
limit ?1 ->> 'rows_max' offset ?1 ->> 'offset'
