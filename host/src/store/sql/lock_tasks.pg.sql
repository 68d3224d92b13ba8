-- Pending tasks given to workers, each from the version before.
-- The tenant is compared in a way that no index can serve: the key leads to the row, whatever else looks cheap
-- to a planner that has seen an empty table.
update workflow_external_tasks as t set
  status = 'LOCKED', worker_id = r.worker_id, lock_token = r.lock_token, locked_at = r.locked_at,
  last_heartbeat_at = r.locked_at, updated_at = r.locked_at, lock_expires_at = r.lock_expires_at,
  due_at = r.due_at, version = r.version
from unnest($1::workflow_lock_tasks_row[]) as r
where t.id = r.id and (t.tenant = r.tenant) is true and t.version = r.version - 1
