-- The types of open tasks, each once.
select to_json(t.task_type)::text
from workflow_external_tasks as t
where t.tenant = $1::json ->> 'tenant' and t.status in ('PENDING', 'LOCKED', 'FAILED')
  and (not ($1::json ->> 'locked')::boolean
    or (t.status = 'LOCKED' and t.lock_expires_at > ($1::json ->> 'now')::timestamptz))
  and (not ($1::json ->> 'not_locked')::boolean
    or t.status <> 'LOCKED' or t.lock_expires_at <= ($1::json ->> 'now')::timestamptz)
  and (not ($1::json ->> 'retries_left')::boolean or t.status <> 'FAILED')
group by t.task_type
order by t.task_type
