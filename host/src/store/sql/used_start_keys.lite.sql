-- Idempotency keys that were used before, with their instances.
select json_object(
  'tenant', t.tenant, 'workflow_key', t.workflow_key, 'key', t.key, 'instance_id', t.instance_id,
  'created_at', t.created_at
)
from json_each(?1) as r
join workflow_start_keys as t
  on t.tenant = r.value ->> 'tenant' and t.workflow_key = r.value ->> 'workflow_key' and t.key = r.value ->> 'key'
