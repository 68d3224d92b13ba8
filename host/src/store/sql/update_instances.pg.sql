-- Instances moved on, each from the version before.
-- The tenant is compared in a way that no index can serve: the key leads to the row, whatever else looks cheap
-- to a planner that has seen an empty table.
update workflow_instances as t set
  status = r.status, version = r.version, open_steps = r.open_steps, open_incidents = r.open_incidents,
  error = r.error, context = coalesce(r.context, t.context), updated_at = r.updated_at, ended_at = r.ended_at,
  turns = r.turns
from unnest($1::workflow_update_instances_row[]) as r
where t.id = r.id and (t.tenant = r.tenant) is true and t.version = r.version - 1
