-- How many open tasks there are with any of Camunda's filters. Planned anew for each call, so that filters that are absent fall away.
select count(*)::text
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
