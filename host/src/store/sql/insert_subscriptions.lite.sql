-- New subscriptions. The same key of the same step is left as it is.
with r as materialized (select jsonb(value) as value from json_each(?1))
insert into workflow_subscriptions (
  id, tenant, instance_id, step_execution_id, key, name, correlation, expires_at, created_at
)
select
  r.value ->> 'id', r.value ->> 'tenant', r.value ->> 'instance_id', r.value ->> 'step_execution_id',
  r.value ->> 'key', r.value ->> 'name', r.value ->> 'correlation', r.value ->> 'expires_at',
  r.value ->> 'created_at'
from r
where true
on conflict (step_execution_id, key) do nothing
