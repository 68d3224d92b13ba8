-- The newest version of each workflow, by key.
select row_to_json(t)::text
from workflow_definitions as t
where t.tenant = $1::json ->> 'tenant' and ($1::json ->> 'after' is null or t.key > $1::json ->> 'after')
  and not exists (
    select 1 from workflow_definitions as n
    where n.tenant = t.tenant and n.key = t.key and n.version > t.version
  )
order by t.key
limit ($1::json ->> 'rows_max')::bigint
