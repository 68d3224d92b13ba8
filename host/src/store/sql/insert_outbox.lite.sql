-- New outgoing items.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into workflow_outbox (
  id, tenant, instance_id, step_execution_id, ordering_key, kind, payload, attempts, due_at, last_error,
  created_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'instance_id', r.value ->> 'step_execution_id',
  r.value ->> 'ordering_key', r.value ->> 'kind', r.value ->> 'payload', r.value ->> 'attempts',
  r.value ->> 'due_at', r.value ->> 'last_error', r.value ->> 'created_at'
from r
