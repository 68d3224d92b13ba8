-- The types of open tasks, each once. As in find_tasks, a wait before a retry is a lock, and what failed is open as long as
-- its instance is not done with.
select json_quote(t.task_type)
from (
  select *, case
    when status = 'LOCKED' then lock_expires_at
    when worker_id is not null and available_at > created_at then available_at
  end as locked_until
  from workflow_external_tasks
) as t
where t.tenant = ?1 ->> 'tenant'
  and (t.status in ('PENDING', 'LOCKED') or (t.status = 'FAILED' and exists (
    select 1 from workflow_instances as i
    where i.id = t.workflow_instance_id and i.status not in ('completed', 'cancelled'))))
  and (not (?1 ->> 'locked') or t.locked_until > ?1 ->> 'now')
  and (not (?1 ->> 'not_locked') or t.locked_until is null or t.locked_until < ?1 ->> 'now')
  and (not (?1 ->> 'retries_left') or t.status <> 'FAILED')
group by t.task_type
order by t.task_type
