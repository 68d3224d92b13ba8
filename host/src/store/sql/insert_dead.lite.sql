-- Outgoing items that were given up.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into workflow_outbox_dead (
  id, tenant, instance_id, step_execution_id, ordering_key, kind, payload, attempts, last_error, created_at, died_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'instance_id', r.value ->> 'step_execution_id',
  r.value ->> 'ordering_key', r.value ->> 'kind', r.value ->> 'payload', r.value ->> 'attempts',
  r.value ->> 'last_error', r.value ->> 'created_at', r.value ->> 'died_at'
from r
where true
on conflict (id) do nothing
