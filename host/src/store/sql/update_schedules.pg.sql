-- Schedules moved on, each from the version before.
update workflow_schedules as t set
  paused = r.paused, next_at = r.next_at, queued_until = r.queued_until, made_up = r.made_up, last_at =
  r.last_at, last_instance_id = r.last_instance_id, last_error = r.last_error, due_at = r.due_at,
  version = r.version, updated_at = r.updated_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, paused boolean, next_at timestamptz, queued_until timestamptz, made_up integer,
  last_at timestamptz, last_instance_id uuid, last_error text, due_at timestamptz, version bigint,
  updated_at timestamptz
)
where t.id = r.id and t.tenant = r.tenant and t.version = r.version - 1
