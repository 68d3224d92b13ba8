-- Tasks are withdrawn by the key that their plugin chose, if they are open.
-- From the key to the row, whatever the planner thinks of a table that was empty a moment ago.
update workflow_external_tasks as t set
  status = 'CANCELLED', completed_at = r.at, updated_at = r.at, due_at = null, lock_token = null,
  lock_expires_at = null, version = t.version + 1
from json_to_recordset($1::json) as r (tenant text, step_execution_id uuid, key text, at timestamptz)
cross join lateral (
  select p.id from workflow_external_tasks as p
  where p.step_execution_id = r.step_execution_id and p.key = r.key and p.tenant = r.tenant
  offset 0
) as o
where t.id = o.id and t.status not in ('COMPLETED', 'FAILED', 'CANCELLED')
