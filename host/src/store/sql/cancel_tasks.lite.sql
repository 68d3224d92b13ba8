-- Tasks are withdrawn by the key that their plugin chose, if they are open.
update workflow_external_tasks as t set
  status = 'CANCELLED', completed_at = r.value ->> 'at', updated_at = r.value ->> 'at', due_at = null, lock_token = null,
  lock_expires_at = null, version = t.version + 1
from json_each(?1) as r
where t.step_execution_id = r.value ->> 'step_execution_id' and t.key = r.value ->> 'key'
  and t.tenant = r.value ->> 'tenant' and t.status in ('PENDING', 'LOCKED')
