-- Tasks that can be claimed, of some types, in the order of each type's index.
select row_to_json(t)::text
from json_array_elements_text($1::json -> 'task_types') as w (task_type)
cross join lateral (
  select p.*
  from workflow_external_tasks as p
  where p.tenant = $1::json ->> 'tenant' and p.task_type = w.task_type
    and p.status = 'PENDING' and p.available_at <= ($1::json ->> 'now')::timestamptz
  order by p.turn_at, p.id
  limit ($1::json ->> 'rows_max')::bigint
) as t
limit ($1::json ->> 'rows_max')::bigint
