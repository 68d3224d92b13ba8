-- Events that a step has not consumed, in order of arrival.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'instance_id', t.instance_id, 'step_execution_id', t.step_execution_id,
  'event', t.event, 'created_at', t.created_at
)
from workflow_events as t
where t.step_execution_id = ?1 ->> 'step_execution_id' and t.tenant = ?1 ->> 'tenant'
order by t.id
