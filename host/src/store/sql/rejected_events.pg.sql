-- Refused events, newest first. Planned anew for each call, so that filters that are absent fall away.
select row_to_json(t)::text
from workflow_rejected_events as t
where t.tenant = $1::json ->> 'tenant'
  and (($1::json ->> 'after')::uuid is null or t.id < ($1::json ->> 'after')::uuid)
order by t.id desc
limit ($1::json ->> 'rows_max')::bigint
