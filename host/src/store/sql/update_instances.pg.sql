-- Instances moved on, each from the version before.
-- The tenant is compared in a way that no index can serve: the key leads to the row, whatever else looks cheap
-- to a planner that has seen an empty table.
update workflow_instances as t set
  status = r.status, version = r.version, open_steps = r.open_steps, open_incidents = r.open_incidents,
  error = r.error, context = coalesce(r.context, t.context), updated_at = r.updated_at, ended_at = r.ended_at,
  turns = r.turns
from unnest(
  $1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::integer[], $6::integer[], $7::text[]::jsonb[],
  $8::text[]::jsonb[], $9::timestamptz[], $10::timestamptz[], $11::text[]::jsonb[]
) as r (
  id, tenant, status, version, open_steps, open_incidents, error, context, updated_at, ended_at, turns
)
where t.id = r.id and (t.tenant = r.tenant) is true and t.version = r.version - 1
