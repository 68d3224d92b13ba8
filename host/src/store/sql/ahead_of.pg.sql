-- How many tasks are handed out before one, counted up to a limit.
select to_json(count(*))::text
from (
  select 1
  from workflow_external_tasks as t
  where t.tenant = $1::json ->> 'tenant' and t.task_type = $1::json ->> 'task_type' and t.status = 'PENDING'
    and t.available_at <= ($1::json ->> 'now')::timestamptz
    and (t.turn_at, t.id) < (($1::json ->> 'turn_at')::timestamptz, ($1::json ->> 'id')::uuid)
  limit ($1::json ->> 'rows_max')::bigint
) as ahead
