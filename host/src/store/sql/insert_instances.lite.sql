-- New instances.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into workflow_instances (
  id, tenant, workflow_key, workflow_version, business_key, status, version, open_steps, open_incidents,
  context, "trigger", error, traceparent, created_at, updated_at, ended_at, turns
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'workflow_key', r.value ->> 'workflow_version',
  r.value ->> 'business_key', r.value ->> 'status', r.value ->> 'version', r.value ->> 'open_steps',
  r.value ->> 'open_incidents', r.value -> 'context', r.value -> 'trigger',
  nullif(r.value -> 'error', 'null'), r.value ->> 'traceparent', r.value ->> 'created_at',
  r.value ->> 'updated_at', r.value ->> 'ended_at', nullif(r.value -> 'turns', 'null')
from r
