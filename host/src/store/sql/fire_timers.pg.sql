-- Timers have fired: they stay as a record and are due no more. One that was moved or has fired is left as it is.
-- The tenant is compared in a way that no index can serve: the key leads to the row, whatever else looks cheap.
update workflow_timers as t set triggered = true, triggered_at = r.at, due_at = null
from unnest($1::workflow_fire_timers_row[]) as r
where t.id = r.id and (t.tenant = r.tenant) is true and t.trigger_at = r.trigger_at and (not t.triggered) is true
