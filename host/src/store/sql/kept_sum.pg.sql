-- How much is kept for an instance.
select json_build_object('count', count(*), 'bytes', coalesce(sum(t.bytes), 0)::bigint)::text
from workflow_kept_events as t
where t.tenant = $1::json ->> 'tenant' and t.execution_id = ($1::json ->> 'execution_id')::uuid
