-- Takes idempotency keys, and returns those that were free. A key that another host is taking is waited for.
insert into workflow_start_keys (
  tenant, workflow_key, key, instance_id, created_at
)
select
  r.tenant, r.workflow_key, r.key, r.instance_id, r.created_at
from json_to_recordset($1::json) as r (
  tenant text, workflow_key text, key text, instance_id uuid, created_at timestamptz
)
on conflict (tenant, workflow_key, key) do nothing
returning row_to_json(workflow_start_keys)::text
