-- Instances ended: due times that were reached and may have waited for them are looked at now. The version is raised, so
-- that whoever has seen the instance running does not put the look off.
update workflow_schedules as t set due_at = r.at, version = t.version + 1
from json_to_recordset($1::json) as r (tenant text, workflow_key text, at timestamptz)
where t.tenant = r.tenant and t.workflow_key = r.workflow_key
  and t.overlap = 'queue' and not t.paused and t.next_at <= r.at
