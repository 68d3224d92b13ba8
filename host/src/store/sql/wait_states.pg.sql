-- Waits, newest first. Planned anew for each call, so that filters that are absent fall away.
select row_to_json(t)::text
from execution_wait_states as t
where t.tenant = $1::json ->> 'tenant'
  and (($1::json ->> 'execution_id')::uuid is null or t.execution_id = ($1::json ->> 'execution_id')::uuid)
  and (
    $1::json ->> 'statuses' is null
    or t.status in (select s from json_array_elements_text($1::json -> 'statuses') as s)
  )
  and ($1::json ->> 'after' is null or t.id < $1::json ->> 'after')
order by t.id desc
limit ($1::json ->> 'rows_max')::bigint
