-- Timers have fired: they stay as a record and are due no more. One that was moved or has fired is left as it is.
update workflow_timers as t set triggered = 1, triggered_at = r.value ->> 'at', due_at = null
from json_each(?1) as r
where t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant' and t.trigger_at = r.value ->> 'trigger_at'
  and not t.triggered
returning json_quote(id)
