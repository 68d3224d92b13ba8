-- Instances moved on. Their versions were checked, under a lock, by guard_instances.
update workflow_instances as t set
  status = r.status, version = r.version, open_steps = r.open_steps, open_incidents = r.open_incidents,
  error = r.error, updated_at = r.updated_at, ended_at = r.ended_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, status text, version bigint, open_steps integer, open_incidents integer,
  error jsonb, updated_at timestamptz, ended_at timestamptz
)
where t.id = r.id and t.tenant = r.tenant
