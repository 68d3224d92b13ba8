-- New incidents.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into workflow_incidents (
  id, tenant, instance_id, step_execution_id, step_id, code, message, plugin_digest, event_id, created_at,
  resolved_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'instance_id', r.value ->> 'step_execution_id',
  r.value ->> 'step_id', r.value ->> 'code', r.value ->> 'message', r.value ->> 'plugin_digest',
  r.value ->> 'event_id', r.value ->> 'created_at', r.value ->> 'resolved_at'
from r
