-- Types of pending tasks that became available by time alone: the index holds delayed tasks only.
select json_object('h', 'tasks', 'tenant', t.tenant, 'task_type', t.task_type, 'count', count(*))
from workflow_external_tasks as t
where t.status = 'PENDING' and t.available_at > t.created_at
  and t.available_at > ?1 ->> 'after' and t.available_at <= ?1 ->> 'now'
group by t.tenant, t.task_type
