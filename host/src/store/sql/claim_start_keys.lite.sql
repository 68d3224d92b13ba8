-- Takes idempotency keys, and returns those that were free. A key that another host is taking is waited for.
insert into workflow_start_keys (
  tenant, workflow_key, key, instance_id, created_at
)
select
  r.value ->> 'tenant', r.value ->> 'workflow_key', r.value ->> 'key', r.value ->> 'instance_id',
  r.value ->> 'created_at'
from json_each(?1) as r
where true
on conflict (tenant, workflow_key, key) do nothing
returning json_object(
  'tenant', tenant, 'workflow_key', workflow_key, 'key', key, 'instance_id', instance_id,
  'created_at', created_at
)
