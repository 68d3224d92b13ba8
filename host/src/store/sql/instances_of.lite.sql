-- Some instances, in any order.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'workflow_key', t.workflow_key, 'workflow_version', t.workflow_version,
  'business_key', t.business_key, 'status', t.status, 'version', t.version, 'open_steps', t.open_steps,
  'open_incidents', t.open_incidents, 'context', json(t.context), 'trigger', json(t."trigger"),
  'error', json(t.error), 'traceparent', t.traceparent, 'created_at', t.created_at,
  'updated_at', t.updated_at, 'ended_at', t.ended_at, 'turns', json(t.turns)
)
from workflow_instances as t
where t.tenant = ?1 ->> 'tenant' and t.id in (select e.value from json_each(?1, '$.ids') as e)
