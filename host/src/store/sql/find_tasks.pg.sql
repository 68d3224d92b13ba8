-- Open tasks with any of Camunda's filters, without what workers got and gave. Planned anew for each call, so that
-- filters that are absent fall away.
select json_build_object('task', json_build_object(
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
)::text
from workflow_external_tasks as t
join workflow_instances as i on i.id = t.workflow_instance_id
cross join lateral (
  select case
    when t.status = 'LOCKED' then t.lock_expires_at
    when t.worker_id is not null and t.available_at > t.created_at then t.available_at
  end as locked_until
) as l
where t.tenant = $1::json ->> 'tenant'
  and (t.status in ('PENDING', 'LOCKED') or (t.status = 'FAILED' and i.status not in ('completed', 'cancelled')))
  and ($1::json ->> 'ids' is null or t.id in (
    select e::uuid from json_array_elements_text(coalesce($1::json ->> 'ids', '[]')::json) as e))
  and ($1::json ->> 'task_type' is null or t.task_type = $1::json ->> 'task_type')
  and ($1::json ->> 'worker_id' is null or t.worker_id = $1::json ->> 'worker_id')
  and (not ($1::json ->> 'locked')::boolean or l.locked_until > ($1::json ->> 'now')::timestamptz)
  and (not ($1::json ->> 'not_locked')::boolean
    or l.locked_until is null or l.locked_until < ($1::json ->> 'now')::timestamptz)
  and (not ($1::json ->> 'retries_left')::boolean or t.status <> 'FAILED')
  and (not ($1::json ->> 'no_retries_left')::boolean or t.status = 'FAILED')
  and ($1::json ->> 'locked_after' is null or l.locked_until > ($1::json ->> 'locked_after')::timestamptz)
  and ($1::json ->> 'locked_before' is null or l.locked_until < ($1::json ->> 'locked_before')::timestamptz)
  and ($1::json ->> 'step_ids' is null or t.step_id in (
    select e from json_array_elements_text(coalesce($1::json ->> 'step_ids', '[]')::json) as e))
  and ($1::json ->> 'step_execution_id' is null
    or t.step_execution_id = ($1::json ->> 'step_execution_id')::uuid)
  and ($1::json ->> 'instance_ids' is null or t.workflow_instance_id in (
    select e::uuid from json_array_elements_text(coalesce($1::json ->> 'instance_ids', '[]')::json) as e))
  and ($1::json ->> 'definition_ids' is null or t.workflow_key || ':' || i.workflow_version in (
    select e from json_array_elements_text(coalesce($1::json ->> 'definition_ids', '[]')::json) as e))
  and ($1::json ->> 'workflow_keys' is null or t.workflow_key in (
    select e from json_array_elements_text(coalesce($1::json ->> 'workflow_keys', '[]')::json) as e))
  and ($1::json ->> 'workflow_name' is null and $1::json ->> 'workflow_name_like' is null or exists (
    select 1 from workflow_definitions as d
    where d.tenant = t.tenant and d.key = t.workflow_key and d.version = i.workflow_version
      and ($1::json ->> 'workflow_name' is null or d.name = $1::json ->> 'workflow_name')
      and ($1::json ->> 'workflow_name_like' is null or d.name like $1::json ->> 'workflow_name_like' escape '')))
  and ($1::json ->> 'business_key' is null or t.business_key = $1::json ->> 'business_key')
  and (not ($1::json ->> 'active')::boolean or i.status <> 'paused')
  and (not ($1::json ->> 'suspended')::boolean or i.status = 'paused')
  and ($1::json ->> 'priority_min' is null or t.priority >= ($1::json ->> 'priority_min')::bigint)
  and ($1::json ->> 'priority_max' is null or t.priority <= ($1::json ->> 'priority_max')::bigint)
order by
  case when not ($1::json -> 'sorts' -> 0 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 0 ->> 'by'
    when 'id' then t.id::text
    when 'processInstanceId' then t.workflow_instance_id::text
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end,
  case when ($1::json -> 'sorts' -> 0 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 0 ->> 'by'
    when 'id' then t.id::text
    when 'processInstanceId' then t.workflow_instance_id::text
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end desc,
  case when not ($1::json -> 'sorts' -> 0 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 0 ->> 'by'
    when 'taskPriority' then -t.priority::numeric
    when 'createTime' then extract(epoch from t.created_at)
    when 'lockExpirationTime' then extract(epoch from l.locked_until)
  end end,
  case when ($1::json -> 'sorts' -> 0 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 0 ->> 'by'
    when 'taskPriority' then -t.priority::numeric
    when 'createTime' then extract(epoch from t.created_at)
    when 'lockExpirationTime' then extract(epoch from l.locked_until)
  end end desc,
  case when not ($1::json -> 'sorts' -> 1 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 1 ->> 'by'
    when 'id' then t.id::text
    when 'processInstanceId' then t.workflow_instance_id::text
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end,
  case when ($1::json -> 'sorts' -> 1 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 1 ->> 'by'
    when 'id' then t.id::text
    when 'processInstanceId' then t.workflow_instance_id::text
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end desc,
  case when not ($1::json -> 'sorts' -> 1 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 1 ->> 'by'
    when 'taskPriority' then -t.priority::numeric
    when 'createTime' then extract(epoch from t.created_at)
    when 'lockExpirationTime' then extract(epoch from l.locked_until)
  end end,
  case when ($1::json -> 'sorts' -> 1 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 1 ->> 'by'
    when 'taskPriority' then -t.priority::numeric
    when 'createTime' then extract(epoch from t.created_at)
    when 'lockExpirationTime' then extract(epoch from l.locked_until)
  end end desc,
  case when not ($1::json -> 'sorts' -> 2 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 2 ->> 'by'
    when 'id' then t.id::text
    when 'processInstanceId' then t.workflow_instance_id::text
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end,
  case when ($1::json -> 'sorts' -> 2 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 2 ->> 'by'
    when 'id' then t.id::text
    when 'processInstanceId' then t.workflow_instance_id::text
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end desc,
  case when not ($1::json -> 'sorts' -> 2 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 2 ->> 'by'
    when 'taskPriority' then -t.priority::numeric
    when 'createTime' then extract(epoch from t.created_at)
    when 'lockExpirationTime' then extract(epoch from l.locked_until)
  end end,
  case when ($1::json -> 'sorts' -> 2 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 2 ->> 'by'
    when 'taskPriority' then -t.priority::numeric
    when 'createTime' then extract(epoch from t.created_at)
    when 'lockExpirationTime' then extract(epoch from l.locked_until)
  end end desc,
  case when not ($1::json -> 'sorts' -> 3 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 3 ->> 'by'
    when 'id' then t.id::text
    when 'processInstanceId' then t.workflow_instance_id::text
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end,
  case when ($1::json -> 'sorts' -> 3 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 3 ->> 'by'
    when 'id' then t.id::text
    when 'processInstanceId' then t.workflow_instance_id::text
    when 'processDefinitionId' then t.workflow_key || ':' || i.workflow_version
    when 'processDefinitionKey' then t.workflow_key
    when 'tenantId' then t.tenant
  end end desc,
  case when not ($1::json -> 'sorts' -> 3 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 3 ->> 'by'
    when 'taskPriority' then -t.priority::numeric
    when 'createTime' then extract(epoch from t.created_at)
    when 'lockExpirationTime' then extract(epoch from l.locked_until)
  end end,
  case when ($1::json -> 'sorts' -> 3 ->> 'desc')::boolean then case $1::json -> 'sorts' -> 3 ->> 'by'
    when 'taskPriority' then -t.priority::numeric
    when 'createTime' then extract(epoch from t.created_at)
    when 'lockExpirationTime' then extract(epoch from l.locked_until)
  end end desc,
  t.created_at, t.id
limit ($1::json ->> 'rows_max')::bigint offset ($1::json ->> 'offset')::bigint
