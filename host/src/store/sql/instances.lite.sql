-- Instances, newest first. Planned anew for each call, so that filters that are absent fall away.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'workflow_key', t.workflow_key, 'workflow_version', t.workflow_version,
  'business_key', t.business_key, 'status', t.status, 'version', t.version, 'open_steps', t.open_steps,
  'open_incidents', t.open_incidents, 'context', json(t.context), 'trigger', json(t."trigger"),
  'error', json(t.error), 'traceparent', t.traceparent, 'created_at', t.created_at,
  'updated_at', t.updated_at, 'ended_at', t.ended_at, 'turns', json(t.turns)
)
from workflow_instances as t
where t.tenant = ?1 ->> 'tenant'
  and (?1 ->> 'workflow_key' is null or t.workflow_key = ?1 ->> 'workflow_key')
  and (?1 ->> 'status' is null or t.status = ?1 ->> 'status')
  and (?1 ->> 'business_key' is null or t.business_key = ?1 ->> 'business_key')
  and (?1 ->> 'after' is null or t.id < ?1 ->> 'after')
order by t.id desc
limit ?1 ->> 'rows_max'
