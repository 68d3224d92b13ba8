-- Outgoing items are to be tried again: a note to several people only for those who have not got it.
with r as materialized (select jsonb(value) as value from json_each(?1))
update workflow_outbox as t set
  attempts = r.value ->> 'attempts', due_at = r.value ->> 'due_at', last_error = r.value ->> 'last_error',
  payload = r.value ->> 'payload'
from r
where t.id = r.value ->> 'id' and t.tenant = r.value ->> 'tenant'
