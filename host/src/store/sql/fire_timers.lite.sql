-- Timers have fired: they stay as a record and are due no more.
update workflow_timers as t set triggered = 1, triggered_at = r.value ->> 'at', due_at = null
from json_each(?1) as r
where t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant' and not t.triggered
