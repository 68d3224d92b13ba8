-- An incident.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'instance_id', t.instance_id, 'step_execution_id', t.step_execution_id,
  'step_id', t.step_id, 'code', t.code, 'message', t.message, 'plugin_digest', t.plugin_digest,
  'event_id', t.event_id, 'created_at', t.created_at, 'resolved_at', t.resolved_at
)
from workflow_incidents as t
where t.id = ?1 ->> 'id' and t.tenant = ?1 ->> 'tenant'
