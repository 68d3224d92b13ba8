-- New instances.
insert into workflow_instances (
  id, tenant, workflow_key, workflow_version, business_key, status, version, open_steps, open_incidents,
  context, "trigger", error, traceparent, created_at, updated_at, ended_at
)
select
  r.id, r.tenant, r.workflow_key, r.workflow_version, r.business_key, r.status, r.version, r.open_steps,
  r.open_incidents, coalesce(r.context, 'null'), coalesce(r."trigger", 'null'), r.error, r.traceparent,
  r.created_at, r.updated_at, r.ended_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, workflow_key text, workflow_version integer, business_key text, status text,
  version bigint, open_steps integer, open_incidents integer, context jsonb, "trigger" jsonb, error jsonb,
  traceparent text, created_at timestamptz, updated_at timestamptz, ended_at timestamptz
)
