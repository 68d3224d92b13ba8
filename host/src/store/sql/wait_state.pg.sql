-- A wait.
select row_to_json(t)::text
from execution_wait_states as t
where t.tenant = $1::json ->> 'tenant' and t.id = $1::json ->> 'id'
