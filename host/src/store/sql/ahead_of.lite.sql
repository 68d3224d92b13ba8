-- How many tasks are handed out before one, counted up to a limit.
select json_quote(count(*))
from (
  select 1
  from workflow_external_tasks as t
  where t.tenant = ?1 ->> 'tenant' and t.task_type = ?1 ->> 'task_type' and t.status = 'PENDING'
    and t.available_at <= ?1 ->> 'now'
    and (t.turn_at, t.id) < (?1 ->> 'turn_at', ?1 ->> 'id')
  limit ?1 ->> 'rows_max'
) as ahead
