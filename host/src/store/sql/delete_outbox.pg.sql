-- Outgoing items are done.
delete from workflow_outbox as t
using json_to_recordset($1::json) as r (tenant text, id uuid)
where t.id = r.id and t.tenant = r.tenant
