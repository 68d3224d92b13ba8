-- Pages of an instance's journal, oldest first, from the one on that may have the line after the given one.
select row_to_json(t)::text
from workflow_journal as t
where t.instance_id = ($1::json ->> 'instance_id')::uuid and t.tenant = $1::json ->> 'tenant'
  and (($1::json ->> 'after')::uuid is null or t.id >= coalesce((
    select p.id from workflow_journal as p
    where p.instance_id = ($1::json ->> 'instance_id')::uuid and p.id <= ($1::json ->> 'after')::uuid
    order by p.id desc
    limit 1
  ), ($1::json ->> 'after')::uuid))
order by t.id
-- The first page may have no line after the given one.
limit ($1::json ->> 'rows_max')::bigint + 1
