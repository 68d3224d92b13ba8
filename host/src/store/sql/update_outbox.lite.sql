-- Outgoing items are to be tried again.
update workflow_outbox as t set
  attempts = r.value ->> 'attempts', due_at = r.value ->> 'due_at', last_error = r.value ->> 'last_error'
from json_each(?1) as r
where t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
