-- The instance that was started with an idempotency key.
select json_object(
  'tenant', t.tenant, 'workflow_key', t.workflow_key, 'key', t.key, 'instance_id', t.instance_id,
  'created_at', t.created_at
)
from workflow_start_keys as t
where t.tenant = ?1 ->> 'tenant' and t.workflow_key = ?1 ->> 'workflow_key' and t.key = ?1 ->> 'key'
