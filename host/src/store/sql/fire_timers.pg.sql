-- Timers have fired: they stay as a record and are due no more.
update workflow_timers as t set triggered = true, triggered_at = r.at, due_at = null
from json_to_recordset($1::json) as r (tenant text, id uuid, at timestamptz)
where t.id = r.id and t.tenant = r.tenant and not t.triggered
