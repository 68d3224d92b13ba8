-- A version of a workflow, the newest unless one is named.
select row_to_json(t)::text
from workflow_definitions as t
where t.tenant = $1::json ->> 'tenant' and t.key = $1::json ->> 'key'
  and (($1::json ->> 'version')::integer is null or t.version = ($1::json ->> 'version')::integer)
order by t.version desc
limit 1
