-- The types of a tenant's pending tasks, each once: one step in the index from each type to the next, however many
-- tasks there are.
with recursive types (task_type) as (
  select (
    select t.task_type
    from workflow_external_tasks as t
    where t.tenant = ?1 ->> 'tenant' and t.status = 'PENDING' and t.task_type > coalesce(?1 ->> 'after', '')
    order by t.task_type
    limit 1
  )
  union all
  select (
    select t.task_type
    from workflow_external_tasks as t
    where t.tenant = ?1 ->> 'tenant' and t.status = 'PENDING' and t.task_type > types.task_type
    order by t.task_type
    limit 1
  )
  from types
  where types.task_type is not null
)
select json_quote(types.task_type)
from types
where types.task_type is not null
limit ?1 ->> 'rows_max'
