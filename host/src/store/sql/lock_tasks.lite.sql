-- Pending tasks given to workers, each from the version before.
with r as materialized (select jsonb(value) as value from json_each(?1))
update workflow_external_tasks as t set
  status = 'LOCKED', worker_id = r.value ->> 'worker_id', lock_token = r.value ->> 'lock_token',
  locked_at = r.value ->> 'locked_at', last_heartbeat_at = r.value ->> 'locked_at',
  updated_at = r.value ->> 'locked_at', lock_expires_at = r.value ->> 'lock_expires_at',
  due_at = r.value ->> 'due_at', version = r.value ->> 'version'
from r
where t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
  and t.version = (r.value ->> 'version') - 1
returning json_quote(id)
