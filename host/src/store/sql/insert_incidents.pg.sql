-- New incidents.
insert into workflow_incidents (
  id, tenant, instance_id, step_execution_id, step_id, code, message, plugin_digest, event_id, created_at,
  resolved_at
)
select
  r.id, r.tenant, r.instance_id, r.step_execution_id, r.step_id, r.code, r.message, r.plugin_digest,
  r.event_id, r.created_at, r.resolved_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, instance_id uuid, step_execution_id uuid, step_id text, code text, message text,
  plugin_digest text, event_id uuid, created_at timestamptz, resolved_at timestamptz
)
