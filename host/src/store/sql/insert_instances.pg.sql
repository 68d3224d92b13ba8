-- New instances.
insert into workflow_instances (
  id, tenant, workflow_key, workflow_version, business_key, status, version, open_steps, open_incidents,
  context, "trigger", error, traceparent, created_at, updated_at, ended_at, turns
)
select
  r.id, r.tenant, r.workflow_key, r.workflow_version, r.business_key, r.status, r.version, r.open_steps,
  r.open_incidents, coalesce(r.context, 'null'), coalesce(r."trigger", 'null'), r.error, r.traceparent,
  r.created_at, r.updated_at, r.ended_at, r.turns
from unnest(
  $1::uuid[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::bigint[], $8::integer[],
  $9::integer[], $10::text[]::jsonb[], $11::text[]::jsonb[], $12::text[]::jsonb[], $13::text[],
  $14::timestamptz[], $15::timestamptz[], $16::timestamptz[], $17::text[]::jsonb[]
) as r (
  id, tenant, workflow_key, workflow_version, business_key, status, version, open_steps, open_incidents,
  context, "trigger", error, traceparent, created_at, updated_at, ended_at, turns
)
