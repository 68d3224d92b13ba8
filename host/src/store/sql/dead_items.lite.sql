-- Outgoing items that were given up, newest first; or the one asked for.
select json_object(
  'id', t.id, 'tenant', t.tenant, 'instance_id', t.instance_id, 'step_execution_id', t.step_execution_id,
  'ordering_key', t.ordering_key, 'kind', t.kind, 'payload', t.payload, 'attempts', t.attempts,
  'due_at', t.died_at, 'last_error', t.last_error, 'created_at', t.created_at, 'died_at', t.died_at
)
from workflow_outbox_dead as t
where t.tenant = ?1 ->> 'tenant'
  and (?1 ->> 'id' is null or t.id = ?1 ->> 'id')
  and (?1 ->> 'after' is null or t.id < ?1 ->> 'after')
order by t.id desc
limit ?1 ->> 'rows_max'
