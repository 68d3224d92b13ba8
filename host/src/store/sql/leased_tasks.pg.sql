-- Tasks that a lease has written whose answer was lost: they have the version that it would write.
select to_json(t.id)::text
from json_to_recordset($1::json) as r (
  id uuid, tenant text, status text, version bigint, lock_token uuid, updated_at timestamptz
)
join workflow_external_tasks as t on t.id = r.id and t.tenant = r.tenant
where t.version = r.version and t.status = r.status and t.lock_token is not distinct from r.lock_token
  and t.updated_at = r.updated_at::timestamptz(3)
