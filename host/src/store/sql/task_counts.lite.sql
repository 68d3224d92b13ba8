-- Open tasks by type and state, over all tenants. Two parts, one for each partial index.
select json_object('task_type', c.task_type, 'status', c.status, 'count', c.count)
from (
  select task_type, 'PENDING' as status, count(*) as count
  from workflow_external_tasks where status = 'PENDING' group by task_type
  union all
  select task_type, 'LOCKED', count(*)
  from workflow_external_tasks where status = 'LOCKED' group by task_type
) as c
where ?1 is not null
