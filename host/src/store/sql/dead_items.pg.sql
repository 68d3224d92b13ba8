-- Outgoing items that were given up, newest first; or the one asked for.
select json_build_object(
  'id', t.id, 'tenant', t.tenant, 'instance_id', t.instance_id, 'step_execution_id', t.step_execution_id,
  'ordering_key', t.ordering_key, 'kind', t.kind, 'payload', t.payload, 'attempts', t.attempts,
  'due_at', t.died_at, 'last_error', t.last_error, 'created_at', t.created_at, 'died_at', t.died_at
)::text
from workflow_outbox_dead as t
where t.tenant = $1::json ->> 'tenant'
  and (($1::json ->> 'id')::uuid is null or t.id = ($1::json ->> 'id')::uuid)
  and (($1::json ->> 'after')::uuid is null or t.id < ($1::json ->> 'after')::uuid)
order by t.id desc
limit ($1::json ->> 'rows_max')::bigint
