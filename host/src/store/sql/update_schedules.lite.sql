-- Schedules moved on, each from the version before.
update workflow_schedules as t set
  paused = r.value ->> 'paused', next_at = r.value ->> 'next_at',
  queued_until = r.value ->> 'queued_until', made_up = r.value ->> 'made_up',
  last_at = r.value ->> 'last_at', last_instance_id = r.value ->> 'last_instance_id',
  last_error = r.value ->> 'last_error', due_at = r.value ->> 'due_at', version = r.value ->> 'version',
  updated_at = r.value ->> 'updated_at'
from json_each(?1) as r
where t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant' and t.version = (r.value ->> 'version') - 1
