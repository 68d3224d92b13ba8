-- The types of open tasks, each once.
select json_quote(t.task_type)
from workflow_external_tasks as t
where t.tenant = ?1 ->> 'tenant' and t.status in ('PENDING', 'LOCKED', 'FAILED')
  and (not (?1 ->> 'locked') or (t.status = 'LOCKED' and t.lock_expires_at > ?1 ->> 'now'))
  and (not (?1 ->> 'not_locked') or t.status <> 'LOCKED' or t.lock_expires_at <= ?1 ->> 'now')
  and (not (?1 ->> 'retries_left') or t.status <> 'FAILED')
group by t.task_type
order by t.task_type
