-- New instances.
insert into workflow_instances (
  id, tenant, workflow_key, workflow_version, business_key, status, version, open_steps, open_incidents,
  context, "trigger", error, traceparent, created_at, updated_at, ended_at, turns
)
select
  r.id, r.tenant, r.workflow_key, r.workflow_version, r.business_key, r.status, r.version, r.open_steps,
  r.open_incidents, coalesce(r.context, 'null'), coalesce(r."trigger", 'null'), r.error, r.traceparent,
  r.created_at, r.updated_at, r.ended_at, r.turns
from unnest($1::workflow_insert_instances_row[]) as r
