-- New subscriptions. The same key of the same step is left as it is.
insert into workflow_subscriptions (
  id, tenant, instance_id, step_execution_id, key, name, correlation, expires_at, created_at
)
select
  r.id, r.tenant, r.instance_id, r.step_execution_id, r.key, r.name, r.correlation, r.expires_at,
  r.created_at
from json_to_recordset($1::json) as r (
  id uuid, tenant text, instance_id uuid, step_execution_id uuid, key text, name text, correlation text,
  expires_at timestamptz, created_at timestamptz
)
on conflict (step_execution_id, key) do nothing
