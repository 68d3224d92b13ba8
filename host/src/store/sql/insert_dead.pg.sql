-- Outgoing items that were given up.
insert into workflow_outbox_dead (
  id, tenant, instance_id, step_execution_id, ordering_key, kind, payload, attempts, last_error, created_at, died_at
)
select
  r.id, r.tenant, r.instance_id, r.step_execution_id, r.ordering_key, r.kind, r.payload, r.attempts, r.last_error,
  r.created_at, r.died_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, instance_id uuid, step_execution_id uuid, ordering_key text, kind text, payload text,
  attempts integer, last_error text, created_at timestamptz, died_at timestamptz
)
on conflict (id) do nothing
