-- What is kept for a wait, in order of arrival.
select row_to_json(t)::text
from workflow_kept_events as t
where t.tenant = $1::json ->> 'tenant' and t.execution_id = ($1::json ->> 'execution_id')::uuid
  and t.correlation_id = $1::json ->> 'correlation_id'
order by t.id
