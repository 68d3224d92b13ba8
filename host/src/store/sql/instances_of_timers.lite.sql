-- The instances that timers belong to, each once.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'workflow_key', t.workflow_key, 'workflow_version', t.workflow_version,
  'business_key', t.business_key, 'status', t.status, 'version', t.version, 'open_steps', t.open_steps,
  'open_incidents', t.open_incidents, 'context', json(t.context), 'trigger', json(t."trigger"),
  'error', json(t.error), 'traceparent', t.traceparent, 'created_at', t.created_at,
  'updated_at', t.updated_at, 'ended_at', t.ended_at, 'turns', json(t.turns)
)
from (
  select distinct value ->> 'workflow_instance_id' as id, value ->> 'tenant' as tenant from json_each(?1)
) as r
cross join workflow_instances as t on t.id = r.id and t.tenant = r.tenant
