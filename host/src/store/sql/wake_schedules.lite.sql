-- Instances ended: due times that were reached and may have waited for them are looked at now. The version is raised, so
-- that whoever has seen the instance running does not put the look off.
update workflow_schedules as t set due_at = r.value ->> 'at', version = t.version + 1
from json_each(?1) as r
where t.tenant = r.value ->> 'tenant' and t.workflow_key = r.value ->> 'workflow_key'
  and t.overlap = 'queue' and not t.paused and t.next_at <= r.value ->> 'at'
