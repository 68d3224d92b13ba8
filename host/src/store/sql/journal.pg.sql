-- The journal of an instance, oldest first.
select row_to_json(t)::text
from workflow_journal as t
where t.instance_id = ($1::json ->> 'instance_id')::uuid and t.tenant = $1::json ->> 'tenant'
  and (($1::json ->> 'after')::uuid is null or t.id > ($1::json ->> 'after')::uuid)
order by t.id
limit ($1::json ->> 'rows_max')::bigint
