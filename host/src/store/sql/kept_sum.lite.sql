-- How much is kept for an instance.
select json_object('count', count(*), 'bytes', coalesce(sum(t.bytes), 0))
from workflow_kept_events as t
where t.tenant = ?1 ->> 'tenant' and t.execution_id = ?1 ->> 'execution_id'
