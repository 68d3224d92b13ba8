-- How many open tasks there are with any of Camunda's filters. Planned anew for each call, so that filters that are absent fall away.
select json_quote(count(*))
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
