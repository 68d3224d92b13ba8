-- Outgoing items that wait, newest first.
select row_to_json(t)::text
from workflow_outbox as t
where t.tenant = $1::json ->> 'tenant'
  and (($1::json ->> 'after')::uuid is null or t.id < ($1::json ->> 'after')::uuid)
order by t.id desc
limit ($1::json ->> 'rows_max')::bigint
