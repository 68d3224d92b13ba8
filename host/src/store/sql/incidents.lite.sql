-- Incidents, newest first. Planned anew for each call, so that filters that are absent fall away.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'instance_id', t.instance_id, 'step_execution_id', t.step_execution_id,
  'step_id', t.step_id, 'code', t.code, 'message', t.message, 'plugin_digest', t.plugin_digest,
  'event_id', t.event_id, 'created_at', t.created_at, 'resolved_at', t.resolved_at
)
from workflow_incidents as t
where t.tenant = ?1 ->> 'tenant'
  and (?1 ->> 'instance_id' is null or t.instance_id = ?1 ->> 'instance_id')
  and (not ?1 ->> 'open_only' or t.resolved_at is null)
  and (?1 ->> 'after' is null or t.id < ?1 ->> 'after')
order by t.id desc
limit ?1 ->> 'rows_max'
