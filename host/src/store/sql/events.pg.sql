-- Events that a step has not consumed, in order of arrival.
select row_to_json(t)::text
from workflow_events as t
where t.step_execution_id = ($1::json ->> 'step_execution_id')::uuid and t.tenant = $1::json ->> 'tenant'
order by t.id
