-- Outgoing items are to be tried again: a note to several people only for those who have not got it.
update workflow_outbox as t set
  attempts = r.attempts, due_at = r.due_at, last_error = r.last_error, payload = r.payload
from json_to_recordset($1::json) as r (
  id uuid, tenant text, attempts integer, due_at timestamptz, last_error text, payload text
)
where t.id = r.id and t.tenant = r.tenant
