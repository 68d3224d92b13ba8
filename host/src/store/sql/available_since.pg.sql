-- Types of pending tasks that became available by time alone: the index holds delayed tasks only.
select json_build_object('h', 'tasks', 'tenant', t.tenant, 'task_type', t.task_type, 'count', count(*))::text
from workflow_external_tasks as t
where t.status = 'PENDING' and t.available_at > t.created_at
  and t.available_at > ($1::json ->> 'after')::timestamptz and t.available_at <= ($1::json ->> 'now')::timestamptz
group by t.tenant, t.task_type
