-- Tasks are withdrawn by the key that their plugin chose, if they are open.
update workflow_external_tasks as t set
  status = 'CANCELLED', completed_at = r.at, updated_at = r.at, due_at = null, lock_token = null,
  lock_expires_at = null, version = t.version + 1
from json_to_recordset($1::json) as r (tenant text, step_execution_id uuid, key text, at timestamptz)
where t.step_execution_id = r.step_execution_id and t.key = r.key and t.tenant = r.tenant
  and t.status in ('PENDING', 'LOCKED')
